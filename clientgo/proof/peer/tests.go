package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tests are the test files of a package, by name.
type tests map[string]*testFile

// testFile is a test file. Some of its declarations may be dropped.
type testFile struct {
	text  []byte
	parts []part
}

// part is a declaration, or the import of a package.
type part struct {
	function    string // the function's name if it is a test
	from, to    int    // byte offsets in the text
	first, last int    // line numbers
	dropped     bool
}

// readTests reads the test files of a package below a folder.
func readTests(root, pkg string) (tests, error) {
	paths, err := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	if err != nil {
		return nil, err
	}
	files := tests{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := parse(rewrite(pkg, text))
		if err != nil {
			return nil, err
		}
		files[filepath.Base(path)] = file
	}
	return files, nil
}

func parse(text []byte) (*testFile, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &testFile{text: text}
	add := func(n ast.Node, function string) {
		from, to := set.Position(n.Pos()), set.Position(n.End())
		f.parts = append(f.parts, part{function: function, from: from.Offset, to: to.Offset, first: from.Line, last: to.Line})
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			name := ""
			if decl.Recv == nil && isTest(decl.Name.Name) {
				name = decl.Name.Name
			}
			add(decl, name)
		case *ast.GenDecl:
			if !decl.Lparen.IsValid() {
				add(decl, "")
				continue
			}
			if usesIota(decl) { // without one constant, other constants would have other values
				add(decl, "")
				continue
			}
			for _, spec := range decl.Specs {
				add(spec, "")
			}
		}
	}
	return f, nil
}

// usesIota reports whether a declaration uses iota.
func usesIota(decl *ast.GenDecl) (found bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "iota"
		return true
	})
	return found
}

// isTest reports whether go test runs a function of this name.
func isTest(name string) bool {
	rest, ok := strings.CutPrefix(name, "Test")
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && name != "TestMain" && !unicode.IsLower(first)
}

// functions returns the names of the test functions that are not dropped.
func (t tests) functions() (names []string) {
	for _, file := range t {
		for _, p := range file.parts {
			if p.function != "" && !p.dropped {
				names = append(names, p.function)
			}
		}
	}
	slices.Sort(names)
	return names
}

// drop drops the declaration at a line of a file, and reports whether there was one.
func (t tests) drop(name string, line int) bool {
	file := t[name]
	if file == nil {
		return false
	}
	for i := range file.parts {
		p := &file.parts[i]
		if p.dropped || line < p.first || p.last < line {
			continue
		}
		p.dropped = true
		for at := p.from; at < p.to; at++ {
			if file.text[at] != '\n' {
				file.text[at] = ' '
			}
		}
		return true
	}
	return false
}
