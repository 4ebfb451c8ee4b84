package sandbox

import (
	"testing"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// ladders are the ways down: what a kernel may refuse, and what then holds.
var ladders = []struct {
	name   string
	weaken weaken
	sole   bool
	wall   fileWall
}{
	{"everything", weaken{}, false, wallLandlock},
	{"landlock 1", weaken{abiCut: true, landlock: 1}, false, wallLandlock},
	{"mounts", weaken{refuse: []string{guard.FeatureLandlock}}, false, wallMount},
	{"no files", weaken{refuse: []string{guard.FeatureLandlock, guard.FeatureMount}}, false, wallNoFiles},
	{"no pidfd", weaken{refuse: []string{guard.FeaturePidfd}}, false, wallLandlock},
	{"no memfd", weaken{refuse: []string{guard.FeatureMemfd}}, false, wallLandlock},
	{"no seccomp", weaken{refuse: []string{guard.FeatureSeccomp}}, false, wallLandlock},
	{"lambda", lambda, true, wallNone},
}

// lambda is what real Lambda is reported to refuse.
var lambda = weaken{refuse: []string{guard.FeatureLandlock, guard.FeatureMount, guard.FeatureSeccomp, guard.FeatureDeathSignal}}

func TestLadder(t *testing.T) {
	for _, step := range ladders {
		t.Run(step.name, func(t *testing.T) {
			s := newSandbox(t, Config{weaken: step.weaken, Sole: step.sole})
			if s.layers.wall != step.wall {
				t.Errorf("file wall %s, want %s", s.layers.wall, step.wall)
			}
			for range 3 {
				j := job("print('hi', input())\n6*7")
				j.Request.Stdin = "there\n"
				r := s.run(t, j)
				if r.Outcome != snippet.OK || r.Stdout != "hi there\n" || r.Value == nil || *r.Value != "42" {
					t.Errorf("got %+v", r)
				}
			}
		})
	}
}
