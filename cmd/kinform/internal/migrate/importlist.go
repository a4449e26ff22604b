package migrate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
)

// addImport adds an import of a standard library package to a file. Formatting sorts the imports
// later.
func addImport(text []byte, name string) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return text
	}
	base := fset.File(f.Pos()).Pos(0)
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.IMPORT {
			continue
		}
		at, line := int(group.Pos()-base), "import "+strconv.Quote(name)+"\n"
		if group.Lparen.IsValid() {
			at, line = int(group.Lparen-base)+1, "\n\t"+strconv.Quote(name)
			// If the import group begins with other packages than the standard library's, add a
			// blank line.
			if len(group.Specs) > 0 && !standard(imported(group.Specs[0].(*ast.ImportSpec))) {
				line += "\n"
			}
		}
		return apply(text, []edit{{start: at, end: at, text: line}}, 0)
	}
	return text
}

// standard reports whether an import path belongs to the standard library.
func standard(importPath string) bool {
	for _, c := range importPath {
		switch c {
		case '/':
			return true
		case '.':
			return false
		}
	}
	return true
}

// dropUnused removes an import from a file that does not use it.
func dropUnused(text []byte, importPath string) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments)
	if err != nil {
		return text
	}
	base := fset.File(f.Pos()).Pos(0)
	for _, spec := range f.Imports {
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if imported(spec) != importPath || name == "_" || name == "." || uses(f, name) {
			continue
		}
		start, end := int(spec.Pos()-base), int(spec.End()-base)
		for start > 0 && (text[start-1] == ' ' || text[start-1] == '\t') {
			start--
		}
		if end < len(text) && text[end] == '\n' {
			end++
		}
		if start > 0 && text[start-1] != '\n' { // The import is a declaration of its own.
			for start > 0 && text[start-1] != '\n' {
				start--
			}
		}
		return apply(text, []edit{{start: start, end: end}}, 0)
	}
	return text
}

// uses reports whether a file uses the package with this name.
func uses(f *ast.File, name string) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && id.Name == name {
				found = true
			}
		}
		return !found
	})
	return found
}
