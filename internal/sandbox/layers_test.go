package sandbox

import (
	"os"
	"testing"

	"cloche/internal/guard"
	"cloche/internal/snippet"
)

// ladder is a way down: what a kernel may refuse, and what then holds.
type ladder struct {
	name   string
	weaken weaken
	sole   bool
	wall   fileWall
}

// needUser leaves out what only a user beside the test's own can show.
func (l ladder) needUser(t *testing.T) {
	t.Helper()
	if l.sole && os.Geteuid() != 0 {
		t.Skip("sweeping by user would end every other process of this one; root has a user of its own for it")
	}
}

var ladders = []ladder{
	{"everything", weaken{}, false, wallLandlock},
	{"landlock 1", weaken{abiCut: true, landlock: 1}, false, wallLandlock},
	{"mounts", weaken{refuse: []string{guard.FeatureLandlock}}, false, wallMount},
	{"no files", weaken{refuse: []string{guard.FeatureLandlock, guard.FeatureMount}}, false, wallNoFiles},
	{"no pidfd", weaken{refuse: []string{guard.FeaturePidfd}}, false, wallLandlock},
	{"no memfd", weaken{refuse: []string{guard.FeatureMemfd}}, false, wallLandlock},
	{"no seccomp", weaken{refuse: []string{guard.FeatureSeccomp}}, false, wallLandlock},
	{"lambda", lambda, true, wallNone},
}

// lambda is what real Lambda is reported to refuse. It sweeps by user, so it has
// one that no sandbox beside it has.
var lambda = weaken{
	refuse: []string{guard.FeatureLandlock, guard.FeatureMount, guard.FeatureSeccomp, guard.FeatureDeathSignal},
	uid:    59743,
}

func TestLadder(t *testing.T) {
	for _, step := range ladders {
		t.Run(step.name, func(t *testing.T) {
			step.needUser(t)
			s := newSandbox(t, Config{weaken: step.weaken, Sole: step.sole})
			want := step.wall
			if want == wallMount && !s.layers.identity.drop() {
				want = wallNoFiles // only root has mounts
			}
			if s.layers.wall != want {
				t.Errorf("file wall %s, want %s", s.layers.wall, want)
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
