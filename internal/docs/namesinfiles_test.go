package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// nameInFile matches a place that a package comment names: a function or a type, in a file.
var nameInFile = regexp.MustCompile(`(\w+) in ([\w/]+\.go)`)

// The functions and types that package comments name under "Where to find what" exist in the named
// files.
func TestNamesInPackageCommentsExist(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"deltafifo", "indexer", "informer", "reflector", "workqueue"} {
		text, err := os.ReadFile(filepath.Join(root, name, "doc.go"))
		require.NoError(t, err)
		_, section, found := strings.Cut(string(text), "// # Where to find what\n")
		require.True(t, found, "%s: the package comment does not say where to find what", name)
		section, _, _ = strings.Cut(section, "// # ")
		places := nameInFile.FindAllStringSubmatch(strings.Join(strings.Fields(strings.ReplaceAll(section, "//", "")), " "), -1)
		require.Greater(t, len(places), 2, name)
		for _, place := range places {
			require.Contains(t, declared(t, filepath.Join(root, name, place[2])), place[1], "%s/doc.go: %s", name, place[0])
		}
	}
}

// declared returns the names of the functions, methods and types of a file.
func declared(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	for _, declaration := range parsed.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if typed, ok := spec.(*ast.TypeSpec); ok {
					names = append(names, typed.Name.Name)
				}
			}
		}
	}
	return names
}

// nameBesideLink matches a link to a file, followed by the name of a function or a type in that
// file.
var nameBesideLink = regexp.MustCompile("\\[`\\w+/[^`]+\\.go`\\]\\(\\.\\./([^)]+)\\)(?:,| 的)\\s+`(\\w+)`")

// In the pages for learners, the names beside a link to a file exist in that file.
func TestNamesBesideLinksExist(t *testing.T) {
	t.Parallel()
	for _, page := range []string{english, chinese} {
		text, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		places := nameBesideLink.FindAllStringSubmatch(string(text), -1)
		require.Greater(t, len(places), 8, page)
		for _, place := range places {
			require.Contains(t, declared(t, filepath.Join(root, place[1])), place[2], "%s: %s", page, place[0])
		}
	}
}
