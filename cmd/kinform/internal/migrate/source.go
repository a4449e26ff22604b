package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// unit is a package of the module in the form in which it is compiled, with its types.
type unit struct {
	path    string
	dir     string
	ignored []string // files that this system does not compile
	files   []*source
	types   *types.Package
	info    *types.Info
}

// source is a Go file.
type source struct {
	name string // path relative to the module's folder
	path string
	text []byte
	file *ast.File
}

// loaded has the used parts of a package in the output of go list -json.
type loaded struct {
	listed
	Dir            string
	IgnoredGoFiles []string
	ImportMap      map[string]string
}

// load parses and type-checks the module's packages with their tests. Each file is in exactly one
// unit.
func load(ctx context.Context, m *module, fset *token.FileSet) ([]*unit, error) {
	out, err := m.run(ctx, m.list("-v", "-test", "-deps", "-export",
		"-json=ImportPath,Error,ForTest,DepOnly,Dir,Export,GoFiles,CgoFiles,IgnoredGoFiles,ImportMap", "./...")...)
	if err != nil {
		return nil, fmt.Errorf("the module must compile before its imports can be replaced: %w", err)
	}
	exports := map[string]string{}
	var own []loaded
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p loaded
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && !strings.HasSuffix(p.ImportPath, ".test") {
			own = append(own, p)
		}
	}
	// The test variant of a package includes its test files, so it comes before the package.
	slices.SortStableFunc(own, func(a, b loaded) int { return strings.Compare(b.ForTest, a.ForTest) })
	seen := map[string]bool{}
	var units []*unit
	for _, p := range own {
		u, err := loadOne(m, fset, p, exports, seen)
		if err != nil {
			return nil, err
		}
		if u != nil {
			units = append(units, u)
		}
	}
	slices.SortFunc(units, func(a, b *unit) int { return strings.Compare(a.path, b.path) })
	return units, nil
}

// loadOne loads a package. It returns nil if an earlier unit has the package's files.
func loadOne(m *module, fset *token.FileSet, p loaded, exports map[string]string, seen map[string]bool) (*unit, error) {
	u := &unit{path: p.ImportPath, dir: p.Dir, ignored: p.IgnoredGoFiles}
	var files []*ast.File
	for _, name := range p.GoFiles {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(p.Dir, name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, parsed)
		if seen[path] {
			continue
		}
		seen[path] = true
		relative, err := filepath.Rel(m.dir, path)
		if err != nil {
			relative = path
		}
		u.files = append(u.files, &source{name: filepath.ToSlash(relative), path: path, text: text, file: parsed})
	}
	if len(u.files) == 0 {
		return nil, nil
	}
	if len(p.CgoFiles) > 0 { // The types of such files cannot be checked here.
		if slices.ContainsFunc(u.files, func(s *source) bool { return importsClientGo(s.file) }) {
			return nil, fmt.Errorf("%s uses cgo and client-go: this command cannot replace its imports", p.ImportPath)
		}
		return nil, nil
	}
	u.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{},
	}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if mapped := p.ImportMap[path]; mapped != "" {
			path = mapped
		}
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})}
	checked, err := config.Check(p.ImportPath, fset, files, u.info)
	if err != nil {
		return nil, fmt.Errorf("the module must compile before its imports can be replaced: %w", err)
	}
	u.types = checked
	return u, nil
}

func importsClientGo(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(spec *ast.ImportSpec) bool { return strings.HasPrefix(imported(spec), clientGo+"/") })
}

// imported returns the path of an import.
func imported(spec *ast.ImportSpec) string {
	path, _ := strconv.Unquote(spec.Path.Value)
	return path
}
