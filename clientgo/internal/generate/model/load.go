// Package model reads the types of k8s.io/api for the generators. It takes the types from the
// compiler's export data, and the markers from the comments of the types.
package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	APIs   = "k8s.io/api/" // prefix of the package paths
	MetaV1 = "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// API is the model of k8s.io/api.
type API struct {
	Packages []*Package // in the order of their paths
	Applied  map[*types.TypeName]bool
}

// Package is a package of k8s.io/api, which is a group version.
type Package struct {
	*types.Package
	Markers map[string]Markers           // by the name of the type
	Merging map[string]map[string]string // merge markers, by type or by type.field
}

// Markers holds the settings of the +genclient lines in the comment of a type.
type Markers struct {
	Client, Cluster, NoStatus bool
	NoVerbs                   bool
	Verbs                     []string // nil means all
	SkipVerbs                 []string
	Subresources              []string
	Methods                   []Method
}

// Method is a method of a client that the markers of the type define.
type Method struct {
	Name, Verb, Subresource string
	Input, Result           string // types by path and name, or "" for the client's own type
}

// listed has the fields of the output of go list -json that are used.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// Load reads the packages of the k8s.io/api version that the module requires.
func Load() (*API, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles", APIs+"...", MetaV1)
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
		if strings.HasPrefix(p.ImportPath, APIs) || p.ImportPath == MetaV1 {
			found = append(found, p)
		}
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	a := &API{Applied: map[*types.TypeName]bool{}}
	for _, p := range found {
		imported, err := compiled.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		s := &Package{Package: imported, Markers: map[string]Markers{}, Merging: map[string]map[string]string{}}
		for _, name := range p.GoFiles {
			if err := s.readComments(filepath.Join(p.Dir, name)); err != nil {
				return nil, err
			}
		}
		a.Packages = append(a.Packages, s)
	}
	a.findCounterparts()
	return a, nil
}

// readComments reads the markers of the types of a file.
func (p *Package) readComments(path string) error {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	ends := map[int]*ast.CommentGroup{} // comments by their last line
	for _, group := range file.Comments {
		ends[set.Position(group.End()).Line] = group
	}
	for _, d := range file.Decls {
		declaration, ok := d.(*ast.GenDecl)
		if !ok || declaration.Tok != token.TYPE {
			continue
		}
		var m Markers
		// A marker may be in a separate comment, with an empty line between it and the
		// documentation.
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
			p.Markers[named.Name.Name] = m
			p.Merging[named.Name.Name] = mergingOf(declaration.Doc)
			if structure, ok := named.Type.(*ast.StructType); ok {
				for _, f := range structure.Fields.List {
					for _, name := range f.Names {
						p.Merging[named.Name.Name+"."+name.Name] = mergingOf(f.Doc)
					}
				}
			}
		}
	}
	return nil
}

func (m *Markers) add(comment *ast.CommentGroup) {
	for _, c := range comment.List {
		marker, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+genclient")
		if !ok {
			continue
		}
		m.Client = true
		switch name, value, _ := strings.Cut(strings.TrimPrefix(marker, ":"), "="); name {
		case "nonNamespaced":
			m.Cluster = true
		case "noStatus":
			m.NoStatus = true
		case "onlyVerbs":
			m.Verbs = strings.Split(value, ",")
		case "noVerbs":
			m.NoVerbs = true
		case "skipVerbs":
			m.SkipVerbs = strings.Split(value, ",")
		case "method":
			method := readMethod(value)
			m.Methods = append(m.Methods, method)
			m.Subresources = append(m.Subresources, method.Subresource)
		}
	}
}

// readMethod reads "NAME,verb=VERB,subresource=SUBRESOURCE,input=TYPE,result=TYPE".
func readMethod(value string) Method {
	parts := strings.Split(value, ",")
	m := Method{Name: parts[0]}
	for _, part := range parts[1:] {
		switch name, v, _ := strings.Cut(part, "="); name {
		case "verb":
			m.Verb = v
		case "subresource":
			m.Subresource = v
		case "input":
			m.Input = v
		case "result":
			m.Result = v
		}
	}
	return m
}

// Version returns the version in the group, such as v1.
func (p *Package) Version() string { return path.Base(p.Path()) }

// Group returns the group as written in apiVersion.
func (p *Package) Group() string {
	return constant.StringVal(p.Scope().Lookup("GroupName").(*types.Const).Val())
}

// Folder returns the package's folder below k8s.io/api, such as apps/v1. Generated packages use the
// same folder.
func (p *Package) Folder() string { return strings.TrimPrefix(p.Path(), APIs) }

// mergingOf reads the merge markers listType, listMapKey, mapType and structType. Each may have the
// prefix k8s:.
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
