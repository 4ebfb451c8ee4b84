package sandbox

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cloche/internal/sandbox/workdir"
	"cloche/internal/snippet"
	"cloche/internal/sys"
)

// inputs remembers the files that a run was given, by path, to tell which ones
// the snippet changed.
type inputs map[string][sha256.Size]byte

// stage writes the input files into the work folder. No user code runs yet, so
// nothing races with it. Paths are followed part by part: one that the contract
// allows may be longer than the kernel takes in one piece.
func (c *child) stage(files []snippet.File) (inputs, error) {
	staged := make(inputs, len(files))
	if len(files) == 0 {
		return staged, nil
	}
	root, err := os.OpenRoot(c.work())
	if err != nil {
		return nil, fmt.Errorf("stage input files: %w", err)
	}
	defer root.Close()
	for n, f := range files {
		if err := c.stageFile(root, f); err != nil {
			return nil, fmt.Errorf("stage input file %d: %w", n, bare(err))
		}
		staged[f.Path] = sha256.Sum256(f.Content)
	}
	return staged, nil
}

func (c *child) stageFile(root *os.Root, f snippet.File) error {
	id := c.layers.identity
	for at, r := range f.Path {
		if r != '/' {
			continue
		}
		if err := root.Mkdir(f.Path[:at], 0o700); errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := root.Lchown(f.Path[:at], id.uid, id.gid); err != nil {
			return err
		}
	}
	if err := root.WriteFile(f.Path, f.Content, 0o600); err != nil {
		return err
	}
	return root.Lchown(f.Path, id.uid, id.gid)
}

// bare is an error without the path that the caller chose.
func bare(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// modules lists the top-level modules among the inputs: they come before the
// library's, as in the folder of a script.
func (in inputs) modules() []string {
	names := []string{}
	for path := range in {
		root, rest, nested := strings.Cut(path, "/")
		name, isModule := strings.CutSuffix(root, ".py")
		if nested {
			name, isModule = root, rest == "__init__.py"
		}
		if isModule && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// room is the most that the input files take on the disk.
func (in inputs) room(files []snippet.File) int64 {
	const block = 4096 // at most one more for a file, and one for each folder that it lies in
	bytes := int64(0)
	for _, f := range files {
		bytes += int64(len(f.Content)) + block*int64(1+strings.Count(f.Path, "/")+1)
	}
	return bytes
}

// deathTime is how long a killed child may take to die before its run is given up.
const deathTime = 5 * time.Second

// errNotDead means that a killed child lives on: it waits in the kernel for
// something that does not come, or somebody froze it.
var errNotDead = errors.New("the child was killed and does not die")

// Bounds on how long the folders of an ended run are looked at. Once a limit or
// the deadline has ended it there is nothing more to judge, and its caller waits.
const (
	surveyTime = 5 * time.Second
	lateTime   = 5 * time.Millisecond
)

// leftovers are the files that a run left in its work folder.
type leftovers struct {
	files []string // sorted
	more  bool     // whether there may be more: not everything was looked at
}

// survey returns what the run left, and holds its folders to the limits once more:
// between two looks it could do a little. The child must have ended by then, since
// nothing may change under us.
func (r *run) survey(end *ending, looked bool) (left leftovers, err error) {
	if end.fault != nil {
		return left, nil
	}
	if nothing, err := r.leftNothing(looked); nothing || err != nil {
		return left, err
	}
	if !r.child.awaitEnd(deathTime) {
		return left, errNotDead
	}
	limits, judged := r.job.Limits, end.limit != ""
	until := time.Now().Add(surveyTime)
	if judged {
		until = time.Now().Add(lateTime)
	}
	w := workdir.Walk{Entries: limits.FolderEntries, Sizes: !judged}
	w.Cancelled = func() bool { return !time.Now().Before(until) }
	w.Visit = func(path string, entry sys.Entry) error {
		if entry.Type == unix.DT_REG {
			left.files = append(left.files, path)
		}
		return nil
	}
	sum, err := w.Of(r.child.work())
	left.more = err != nil
	slices.Sort(left.files)
	if judged {
		return left, nil
	}
	if w.Visit = nil; err == nil {
		sum, err = w.Of(r.child.tmp())
	}
	broken := errors.Is(err, workdir.ErrDeep) || errors.Is(err, workdir.ErrMany)
	if err != nil && !broken {
		return leftovers{}, fmt.Errorf("look at what the run left: %w", err)
	}
	if refused := end.report != nil && end.report.reason().Outcome() == snippet.Blocked; !refused && (broken || sum.Bytes > limits.FolderBytes) {
		end.found(snippet.DiskLimit, nil)
	}
	return left, nil
}

// leftNothing reports whether there is nothing to look at. A run that nobody had
// to look at had no time to fill its temporary folder.
func (r *run) leftNothing(looked bool) (bool, error) {
	if len(r.inputs) > 0 {
		return false, nil
	}
	empty, err := workdir.Empty(r.child.work())
	if empty && err == nil && looked {
		empty, err = workdir.Empty(r.child.tmp())
	}
	if err != nil {
		return false, fmt.Errorf("look at what the run left: %w", err)
	}
	return empty, nil
}

// collect puts the new and changed ones of the files that the run left into the
// result.
func (r *run) collect(result *snippet.Result, left leftovers) {
	if left.more {
		result.FilesOmitted++
	}
	if len(left.files) == 0 {
		return
	}
	root, err := os.OpenRoot(r.child.work())
	if err != nil {
		result.FilesOmitted += len(left.files)
		return
	}
	defer root.Close()
	budget := int64(snippet.MaxArtifact)
	for _, path := range left.files {
		full := len(result.Files) == snippet.MaxArtifacts
		if _, given := r.inputs[path]; full && !given {
			result.FilesOmitted++
			continue
		}
		a, changed := r.artifact(root, path, &budget)
		switch {
		case !changed:
		case full:
			result.FilesOmitted++
		default:
			result.Files = append(result.Files, a)
		}
	}
}

// artifact describes one file; it is false for an input that did not change.
func (r *run) artifact(root *os.Root, path string, budget *int64) (snippet.Artifact, bool) {
	a := snippet.Artifact{Path: printable(path), MediaType: mediaType(path, nil), Encoding: "utf-8"}
	content, size, err := readRegular(root, path, *budget)
	a.Size = size
	before, given := r.inputs[path]
	if err == nil && given && sha256.Sum256(content) == before {
		return a, false
	}
	if err != nil {
		a.Omitted = err.Error()
		return a, true
	}
	*budget -= size
	sum := sha256.Sum256(content)
	a.SHA256 = text(hex.EncodeToString(sum[:]))
	a.MediaType = mediaType(path, content)
	a.Content, a.Encoding = encode(content)
	return a, true
}

// Why a file's content is missing, in words for the caller.
var (
	errTooLarge   = fmt.Errorf("the files of a run may hold %d bytes together", snippet.MaxArtifact)
	errNotRegular = errors.New("not a regular file of its own")
	errUnreadable = errors.New("it cannot be read")
)

// readRegular opens a file below root without following a link and without
// waiting on a fifo, and reads at most budget bytes of it.
func readRegular(root *os.Root, path string, budget int64) ([]byte, int64, error) {
	const flags = os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	f, err := root.OpenFile(path, flags, 0)
	if errors.Is(err, fs.ErrPermission) && root.Chmod(path, 0o600) == nil {
		f, err = root.OpenFile(path, flags, 0)
	}
	if err != nil {
		return nil, 0, errUnreadable
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 {
		return nil, 0, errNotRegular
	}
	if st.Size > budget {
		return nil, st.Size, errTooLarge
	}
	content, err := io.ReadAll(io.LimitReader(f, budget))
	if err != nil {
		return nil, st.Size, errUnreadable
	}
	return content, int64(len(content)), nil
}

// encode writes text as text and anything else as base64: control characters
// would grow sixfold in JSON.
func encode(content []byte) (*string, string) {
	if utf8.Valid(content) && !strings.ContainsFunc(string(content), unprintable) {
		return text(string(content)), "utf-8"
	}
	return text(base64.StdEncoding.EncodeToString(content)), "base64"
}

func unprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

func mediaType(path string, content []byte) string {
	if byName := mime.TypeByExtension(filepath.Ext(path)); byName != "" {
		return byName
	}
	if content == nil {
		return "application/octet-stream"
	}
	return http.DetectContentType(content)
}

// printable writes the bytes of a name that are not UTF-8 as \xNN. A backslash
// before what looks like such an escape is escaped too, so that no two names come
// out the same.
func printable(name string) string {
	var b strings.Builder
	for at := 0; at < len(name); {
		r, size := utf8.DecodeRuneInString(name[at:])
		switch {
		case r == utf8.RuneError && size == 1, r == '\\' && escapeForm.MatchString(name[at:]):
			for _, c := range []byte(name[at : at+size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(name[at : at+size])
		}
		at += size
	}
	return b.String()
}

var escapeForm = regexp.MustCompile(`^\\x[0-9a-f]{2}`)
