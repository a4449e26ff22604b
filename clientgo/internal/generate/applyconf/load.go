package main

import (
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
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	apis   = "k8s.io/api/"
	metaV1 = "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// api is what is known of the types of k8s.io/api.
type api struct {
	packages []*source // in the order of their paths
	applied  map[*types.TypeName]bool
}

// source is a package of k8s.io/api, a version of a group.
type source struct {
	*types.Package
	markers map[string]markers           // by the name of the type
	merging map[string]map[string]string // what its comment says of merging, by the type or by type.field
	group   string                       // as it is in apiVersion
}

// markers are what the +genclient lines above a type say.
type markers struct {
	client, cluster, noStatus bool
	verbs                     []string // nil means all
	subresources              []string
}

// listed is what of a package of go list -json is used.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// loadAPI reads the packages that k8s.io/api has in the version that the module requires.
func loadAPI() (*api, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", apis+"...", metaV1)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w", cmd, err)
	}
	exports := map[string]string{}
	var found []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, apis) || p.ImportPath == metaV1 {
			found = append(found, p)
		}
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	a := &api{applied: map[*types.TypeName]bool{}}
	for _, p := range found {
		imported, err := compiled.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		s := &source{Package: imported, markers: map[string]markers{}, merging: map[string]map[string]string{}}
		for _, name := range p.GoFiles {
			if err := s.readComments(filepath.Join(p.Dir, name)); err != nil {
				return nil, err
			}
		}
		a.packages = append(a.packages, s)
	}
	a.choose()
	return a, nil
}

// readComments reads the markers of the types of a file.
func (s *source) readComments(path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	ends := map[int]*ast.CommentGroup{} // by the line where a comment ends
	for _, group := range file.Comments {
		ends[set.Position(group.End()).Line] = group
	}
	for _, d := range file.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.TYPE {
			continue
		}
		var m markers
		// A marker may stand in a comment of its own, with an empty line between it and the documentation.
		line := set.Position(declaration.Pos()).Line
		if declaration.Doc != nil {
			m.add(declaration.Doc)
			line = set.Position(declaration.Doc.Pos()).Line
		}
		if above := ends[line-2]; above != nil {
			m.add(above)
		}
		for _, spec := range declaration.Specs {
			named := spec.(*ast.TypeSpec)
			s.markers[named.Name.Name] = m
			s.merging[named.Name.Name] = mergingOf(declaration.Doc)
			if structure, ok := named.Type.(*ast.StructType); ok {
				for _, f := range structure.Fields.List {
					for _, name := range f.Names {
						s.merging[named.Name.Name+"."+name.Name] = mergingOf(f.Doc)
					}
				}
			}
		}
	}
	return nil
}

func (m *markers) add(comment *ast.CommentGroup) {
	for _, c := range comment.List {
		marker, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+genclient")
		if !ok {
			continue
		}
		m.client = true
		switch name, value, _ := strings.Cut(strings.TrimPrefix(marker, ":"), "="); name {
		case "nonNamespaced":
			m.cluster = true
		case "noStatus":
			m.noStatus = true
		case "onlyVerbs":
			m.verbs = strings.Split(value, ",")
		case "method":
			for _, part := range strings.Split(value, ",") {
				if sub, ok := strings.CutPrefix(part, "subresource="); ok {
					m.subresources = append(m.subresources, sub)
				}
			}
		}
	}
}

// mergingOf reads the markers listType, listMapKey, mapType and structType, with or without k8s: before them.
func mergingOf(comment *ast.CommentGroup) map[string]string {
	found := map[string]string{}
	if comment == nil {
		return found
	}
	for _, c := range comment.List {
		marker, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+")
		name, value, _ := strings.Cut(strings.TrimPrefix(marker, "k8s:"), "=")
		switch {
		case !ok:
		case name == "listMapKey" && found[name] != "":
			if keys := strings.Split(found[name], ","); !slices.Contains(keys, value) {
				found[name] += "," + value
			}
		case name == "listType", name == "listMapKey", name == "mapType", name == "structType":
			found[name] = value
		}
	}
	return found
}
