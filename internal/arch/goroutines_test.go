package arch_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoroutinesBeginWithAFunctionLiteral demands that each goroutine of the repository starts in a
// function literal without arguments. For a call with arguments, or of a method value, the compiler
// makes a wrapper. The stack dump of a wrapper that has not run yet has a frame of runtime.goexit.
// Some leak checks look for this frame, such as the checks of net/http and Istio. They first
// overlook such a goroutine, and report it as a leak after it has run.
func TestGoroutinesBeginWithAFunctionLiteral(t *testing.T) {
	root := filepath.Join("..", "..")
	starts := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				starts++
				if _, ok := n.Call.Fun.(*ast.FuncLit); !ok || len(n.Call.Args) > 0 {
					t.Errorf("%s: start the goroutine with go func() { … }(), because leak checkers recognise it from the start", files.Position(n.Pos()))
				}
			case *ast.CallExpr:
				function, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || function.Sel.Name != "AfterFunc" || len(n.Args) != 2 {
					break
				}
				starts++
				if _, ok := n.Args[1].(*ast.SelectorExpr); ok {
					t.Errorf("%s: AfterFunc starts a goroutine of a method value; give it a function literal", files.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, starts, 50, "the check has found the goroutines")
}
