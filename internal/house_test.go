// Package internal holds the test of the house's plan: which package may
// import which. Nothing else lives at this level.
package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "cloche"

// mayImport is the plan: a folder, and the packages of ours that it may import.
// A folder also covers what lies below it. Tests may import more: they wire
// real parts together.
var mayImport = map[string][]string{
	"internal/snippet":    {},
	"internal/guard":      {},
	"internal/config":     {},
	"web":                 {},
	"internal/sys":        {},
	"internal/procfs":     {"internal/sys"},
	"internal/sandbox":    {"internal/sandbox", "internal/snippet", "internal/guard", "internal/procfs", "internal/sys"},
	"internal/metrics":    {"internal/metrics", "internal/snippet"},
	"internal/service":    {"internal/snippet", "internal/metrics"},
	"internal/dynamo":     {"internal/metrics", "internal/snippet"},
	"internal/sqlite":     {"internal/metrics", "internal/snippet"},
	"internal/api":        {"internal/snippet", "internal/service", "internal/metrics"},
	"internal/connection": {"internal/api"},
	"internal/mcp":        {"internal/snippet", "internal/service"},
	"internal/tenant":     {"internal/snippet"},
	"internal/gateway":    {"internal/snippet"},
	"internal/bench":      {"internal/snippet"},
	"functions":           {"functions", "internal", "web"},
	"cmd":                 {"internal", "web"},
}

// onlyIn names what few folders may know: the SDK of a store, the cloud's entry
// points, the command line.
var onlyIn = map[string][]string{
	"github.com/aws/aws-sdk-go-v2/service/dynamodb": {"internal/dynamo"},
	"github.com/aws/aws-sdk-go-v2/service/lambda":   {"internal/gateway"},
	"github.com/aws/aws-lambda-go":                  {"internal/gateway"},
	"github.com/awslabs/aws-lambda-go-api-proxy":    {"internal/gateway"},
	"modernc.org/sqlite":                            {"internal/sqlite"},
	"database/sql":                                  {"internal/sqlite"},
	"github.com/spf13/cobra":                        {"cmd"},
	"github.com/spf13/pflag":                        {"internal/config", "cmd"},
	"github.com/danielgtaylor/huma":                 {"internal/api"},
}

// source is one Go file that is built into a program.
type source struct {
	folder string // slash-separated, from the root of the module
	file   *ast.File
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		allowed, planned := plan(s.folder)
		if !planned {
			t.Errorf("%s: no place in the plan; add it to mayImport", s.folder)
			continue
		}
		for _, target := range ours(s.file) {
			if target != s.folder && !covered(target, allowed) {
				t.Errorf("%s imports %s; it may import %v", s.folder, target, allowed)
			}
		}
	}
}

func TestFewKnowTheOutside(t *testing.T) {
	for _, s := range sources(t) {
		for _, target := range imports(s.file) {
			for outside, folders := range onlyIn {
				if covered(target, []string{outside}) && !covered(s.folder, folders) {
					t.Errorf("%s imports %s; only %v may", s.folder, target, folders)
				}
			}
		}
	}
}

// Settings come from one place, or the documentation of them is a guess.
func TestOnlyConfigReadsTheEnvironment(t *testing.T) {
	for _, s := range sources(t) {
		if s.folder == "internal/config" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && readsEnvironment(sel) {
				t.Errorf("%s calls os.%s; take the value from internal/config", s.folder, sel.Sel.Name)
			}
			return true
		})
	}
}

func readsEnvironment(sel *ast.SelectorExpr) bool {
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "ExpandEnv"}, sel.Sel.Name)
}

// The plan itself must refuse what it is there to refuse.
func TestPlanRefuses(t *testing.T) {
	for _, arrow := range [][2]string{
		{"internal/snippet", "internal/guard"},
		{"internal/api", "internal/sandbox"},
		{"internal/api", "internal/dynamo"},
		{"internal/metrics/metricstest", "internal/sqlite"},
		{"internal/service", "internal/api"},
		{"internal/guard", "internal/sandbox"},
	} {
		allowed, planned := plan(arrow[0])
		if !planned || covered(arrow[1], allowed) {
			t.Errorf("the plan lets %s import %s", arrow[0], arrow[1])
		}
	}
}

// plan finds the row of the folder or of the nearest folder above it.
func plan(folder string) (allowed []string, planned bool) {
	for ; folder != "."; folder = path.Dir(folder) {
		if allowed, planned = mayImport[folder]; planned {
			return allowed, true
		}
	}
	return nil, false
}

// covered reports whether name is one of the roots or lies below one.
func covered(name string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return name == root || strings.HasPrefix(name, root+"/")
	})
}

func ours(f *ast.File) []string {
	var out []string
	for _, name := range imports(f) {
		if rest, ok := strings.CutPrefix(name, module+"/"); ok {
			out = append(out, rest)
		}
	}
	return out
}

func imports(f *ast.File) []string {
	var out []string
	for _, i := range f.Imports {
		if name, err := strconv.Unquote(i.Path.Value); err == nil {
			out = append(out, name)
		}
	}
	return out
}

// sources parses every Go file of the module that is not a test, for all
// systems and architectures.
func sources(t *testing.T) []source {
	t.Helper()
	root := os.DirFS("..")
	var out []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipped(name, d.Name())
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err == nil {
			out = append(out, source{path.Dir(name), file})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no Go file found")
	}
	return out
}

// skipped leaves out the folders that the go command leaves out too.
func skipped(name, base string) error {
	if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "bin") {
		return fs.SkipDir
	}
	return nil
}
