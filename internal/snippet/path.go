package snippet

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathPattern says as a regular expression what PathProblem says in words,
// except for lengths and depth. It holds for RE2, ECMAScript and Python, so that
// a schema can show it.
const PathPattern = `^(?:[^/.~\x00-\x1f\x7f-\x9f]|\.{1,2}[^/.\x00-\x1f\x7f-\x9f]|\.{3})[^/\x00-\x1f\x7f-\x9f]*` +
	`(?:/(?:\.{0,2}[^/.\x00-\x1f\x7f-\x9f]|\.{3})[^/\x00-\x1f\x7f-\x9f]*)*$`

// PathProblem says what is wrong with the path of an input file; "" if nothing
// is. A path that passes stays inside the folder it is joined to.
func PathProblem(path string) string {
	switch {
	case path == "":
		return "is required and must not be empty"
	case !utf8.ValidString(path):
		return "must be valid UTF-8"
	case path[0] == '/' || path[0] == '~':
		return "must be relative, without a leading / or ~"
	case strings.ContainsFunc(path, unicode.IsControl):
		return "must not contain NUL or other control characters"
	case strings.Count(path, "/") >= MaxPathDepth:
		return fmt.Sprintf("must have at most %d parts", MaxPathDepth)
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." {
			return "must not have an empty, . or .. part"
		}
		if len(part) > MaxPathPart {
			return fmt.Sprintf("must have parts of at most %d bytes", MaxPathPart)
		}
	}
	return ""
}

func (e *FieldErrors) addPaths(files []File) {
	first := make(map[string]int, len(files))
	for i, f := range files {
		if _, taken := first[f.Path]; !taken {
			first[f.Path] = i
		}
	}
	for i, f := range files {
		problem := PathProblem(f.Path)
		if problem == "" {
			problem = clash(f.Path, i, first)
		}
		e.add(fmt.Sprintf("files[%d].path", i), problem)
	}
}

// clash says with which file the i-th one collides; first maps each path to the
// first file that has it.
func clash(path string, i int, first map[string]int) string {
	if j := first[path]; j != i {
		return fmt.Sprintf("is the same as that of files[%d]", j)
	}
	for end, c := range path {
		if j, taken := first[path[:end]]; c == '/' && taken {
			return fmt.Sprintf("needs a folder where files[%d] is a file", j)
		}
	}
	return ""
}
