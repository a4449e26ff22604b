package docs

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// block is a piece of code in a comment or a page.
type block struct {
	file, text string
}

// key identifies a block: its file and its first line.
func (b block) key() string {
	first, _, _ := strings.Cut(strings.TrimSpace(b.text), "\n")
	return b.file + ": " + strings.TrimSpace(first)
}

// blocks returns the code blocks in the comments of all packages of this module, indented as godoc
// shows them. It also returns the Go blocks of all pages. It skips module clientgo, whose comments
// show client-go's API, because this module does not require client-go.
func blocks(t *testing.T) (all []block) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(name, ".") || name == "bin" || entry.Name() == "testdata"):
			return fs.SkipDir
		case entry.IsDir(), strings.HasPrefix(filepath.ToSlash(name), "clientgo/") && strings.HasSuffix(name, ".go"):
		case strings.HasSuffix(name, ".md"):
			all = append(all, inPage(t, name)...)
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			all = append(all, inComments(t, name)...)
		}
		return nil
	}))
	require.Greater(t, len(all), 30, "the search must find the code")
	return all
}

func inPage(t *testing.T, name string) (all []block) {
	page, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```go\n")
	for found {
		var code string
		code, rest, _ = strings.Cut(rest, "```")
		all = append(all, block{name, code})
		_, rest, found = strings.Cut(rest, "```go\n")
	}
	return all
}

func inComments(t *testing.T, name string) (all []block) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments)
	require.NoError(t, err)
	add := func(doc *ast.CommentGroup) {
		var p comment.Parser
		for _, part := range p.Parse(doc.Text()).Content {
			if code, ok := part.(*comment.Code); ok {
				all = append(all, block{name, code.Text})
			}
		}
	}
	add(file.Doc)
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GenDecl:
			add(node.Doc)
		case *ast.FuncDecl:
			add(node.Doc)
		case *ast.TypeSpec:
			add(node.Doc)
		case *ast.ValueSpec:
			add(node.Doc)
		case *ast.Field:
			add(node.Doc)
		}
		return true
	})
	return all
}
