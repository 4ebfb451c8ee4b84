package snippet

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var pathPattern = regexp.MustCompile(PathPattern)

// FuzzPath holds the path rules against three other tellers: the pattern that
// the schema shows, and what io/fs and path/filepath call local.
func FuzzPath(f *testing.F) {
	for path := range paths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		good := PathProblem(path) == ""
		if good && (!fs.ValidPath(path) || !filepath.IsLocal(path) || path == "." || len(path) > MaxPath) {
			t.Errorf("%q passes but is not a local path", path)
		}
		short := strings.Count(path, "/") < MaxPathDepth
		for part := range strings.SplitSeq(path, "/") {
			short = short && len(part) <= MaxPathPart
		}
		if want := utf8.ValidString(path) && short && pathPattern.MatchString(path); good != want {
			t.Errorf("%q: PathProblem says %v, PathPattern says %v", path, good, want)
		}
	})
}
