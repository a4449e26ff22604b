package arch_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
	"github.com/kinform/kinform/rest/execauth"
	"github.com/kinform/kinform/workqueue"
)

// nilErrors are the exported error types with pointer receivers. Each value is the nil pointer that
// this code returns by mistake: var e *rest.Error; return e.
var nilErrors = map[string]error{
	"indexer.IndexError":         (*indexer.IndexError)(nil),
	"informer.ConflictError":     (*informer.ConflictError)(nil),
	"informer.SyncError":         (*informer.SyncError)(nil),
	"await.Error":                (*await.Error)(nil),
	"lease.LostError":            (*lease.LostError)(nil),
	"listwatch.ObjectError":      (*listwatch.ObjectError)(nil),
	"reflector.UndecodableError": (*reflector.UndecodableError)(nil),
	"rest.Error":                 (*rest.Error)(nil),
	"discovery.Error":            (*discovery.Error)(nil),
	"discovery.NotFoundError":    (*discovery.NotFoundError)(nil),
	"execauth.Error":             (*execauth.Error)(nil),
	"workqueue.DrainError":       (*workqueue.DrainError)(nil),
	"workqueue.PanicError":       (*workqueue.PanicError)(nil),
}

// A nil pointer of one of these error types, stored in an error, makes an error that is not nil. A
// program can print and inspect it like any other error.
func TestNilErrorsCanBePrintedAndInspected(t *testing.T) {
	t.Parallel()
	for name, err := range nilErrors {
		require.NotPanics(t, func() {
			require.Equal(t, "<nil>", err.Error(), name)
			require.NotErrorIs(t, err, fs.ErrExist, name)
			_, ok := errors.AsType[*fs.PathError](err)
			require.False(t, ok, name)
		}, name)
	}
}

// The table above lists every exported type whose method Error has a pointer receiver.
func TestNilErrorsAreComplete(t *testing.T) {
	t.Parallel()
	var found []string
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (slices.Contains([]string{"internal", "testdata", "clientgo", "bench", "e2e", "cmd", "examples", "plain", "apitest"}, name) || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			f, ok := declared.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "Error" || f.Type.Params.NumFields() > 0 {
				continue
			}
			pointer, ok := f.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if of, ok := pointer.X.(*ast.Ident); ok && of.IsExported() {
				found = append(found, file.Name.Name+"."+of.Name)
			}
		}
		return nil
	})
	require.NoError(t, err)
	for _, name := range found {
		require.Contains(t, nilErrors, name)
	}
	require.Len(t, found, len(nilErrors))
}
