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
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cloche/internal/snippet"
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

// collect puts the new and changed files of the work folder into the result.
// The child must be dead before a file is opened: nothing may change under us.
func (r *run) collect(result *snippet.Result) {
	if len(r.inputs) == 0 && emptyDir(r.child.work()) {
		return
	}
	r.child.dead()
	root, err := os.OpenRoot(r.child.work())
	if err != nil {
		return // the snippet removed its work folder
	}
	defer root.Close()
	paths, more := listFiles(root, r.job.Limits.FolderEntries)
	result.FilesOmitted = more
	budget := int64(snippet.MaxArtifact)
	for _, path := range paths {
		a, changed := r.artifact(root, path, &budget)
		switch {
		case !changed:
		case len(result.Files) == snippet.MaxArtifacts:
			result.FilesOmitted++
		default:
			result.Files = append(result.Files, a)
		}
	}
}

// emptyDir reports whether nothing is in a folder, or it is gone.
func emptyDir(path string) bool {
	fd, err := unix.Open(path, folderFlags, 0)
	if err != nil {
		return true
	}
	defer closeFDs(fd)
	var buf [1024]byte
	for {
		n, err := unix.ReadDirent(fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return true
		}
		if _, count, _ := unix.ParseDirent(buf[:n], 1, nil); count > 0 { // without . and ..
			return false
		}
	}
}

// listFiles returns the paths of regular files, sorted, and how many entries
// were left out because there are too many.
func listFiles(root *os.Root, most int) (paths []string, more int) {
	_ = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			openUp(root, path, d)
		}
		switch {
		case err != nil || !d.Type().IsRegular():
			return nil
		case len(paths) == most:
			more++
		default:
			paths = append(paths, path)
		}
		return nil
	})
	return paths, more
}

// openUp gives a folder back to its owner, whom the snippet may have shut out.
func openUp(root *os.Root, path string, d fs.DirEntry) {
	if info, err := d.Info(); err == nil && info.Mode().Perm()&0o500 != 0o500 {
		_ = root.Chmod(path, 0o700)
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

// printable writes the bytes of a name that are not UTF-8 as \xNN.
func printable(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, name[0])
		} else {
			b.WriteRune(r)
		}
		name = name[size:]
	}
	return b.String()
}
