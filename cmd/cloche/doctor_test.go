//go:build linux

package main

import (
	"testing"

	"cloche/internal/snippet"
)

// Layers that are required and off are named; what is not required may be off.
func TestMissingLayersAreNamed(t *testing.T) {
	r := snippet.Runtime{Layers: []snippet.Layer{{Name: "files", Active: true}, {Name: "seccomp"}, {Name: "identity"}}}
	if err := missing([]string{"files"}, r); err != nil {
		t.Error(err)
	}
	const want = "required isolation is missing: seccomp, identity; mend it, or accept less with --require"
	if err := missing([]string{"files", "seccomp", "identity"}, r); err == nil || err.Error() != want {
		t.Errorf("error %v", err)
	}
}
