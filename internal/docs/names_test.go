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

// The tables for users of other libraries name declarations in their column for kinform:
// `package.Name`, `package.Type.Method` or `package.Type.Field`. Each of these declarations exists.
func TestNamesInTheClientGoTableExist(t *testing.T) {
	requireNames(t, "docs/coming-from-client-go.md", 40)
}

func TestNamesInTheControllerRuntimeTableExist(t *testing.T) {
	requireNames(t, "docs/controllers.md", 25)
}

// requireNames checks that the names on a page exist, and that the page has more names than the
// given number.
func requireNames(t *testing.T, name string, more int) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	require.NoError(t, err)
	exported := map[string]map[string]bool{}
	checked := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, match := range regexp.MustCompile("`([a-z]+)\\.([A-Za-z.]+)`").FindAllStringSubmatch(cells[2], -1) {
			dir, ok := strings.CutPrefix(imports[match[1]], module)
			require.True(t, ok, "%s is not a package of this module", match[1])
			if exported[dir] == nil {
				exported[dir] = exportedNames(t, dir)
			}
			require.True(t, exported[dir][match[2]], "%s names %s.%s, which does not exist", name, match[1], match[2])
			checked++
		}
	}
	require.Greater(t, checked, more)
}

// exportedNames returns the exported names of a package. It returns the methods and fields of types
// as Type.Name. A field or method of an embedded type counts as a field or method of the outer
// type.
func exportedNames(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names, methods, embedded := map[string]bool{}, map[string][]string{}, map[string][]string{}
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else {
					receiver := typeName(d.Recv.List[0].Type)
					methods[receiver] = append(methods[receiver], d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = true
						}
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						if structure, ok := s.Type.(*ast.StructType); ok {
							for _, field := range structure.Fields.List {
								for _, name := range field.Names {
									methods[s.Name.Name] = append(methods[s.Name.Name], name.Name)
								}
								if len(field.Names) == 0 {
									embedded[s.Name.Name] = append(embedded[s.Name.Name], typeName(field.Type))
								}
							}
						}
					}
				}
			}
		}
	}
	for name := range names {
		for _, of := range append(embedded[name], name) {
			for _, method := range methods[of] {
				names[name+"."+method] = true
			}
		}
	}
	return names
}

// typeName returns the name of a type without its pointer and its type arguments.
func typeName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
