package migrate

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// rewriting replaces client-go's work queues by kinform's in one file. It makes small edits, so
// that the rest of the file stays exactly as it was.
type rewriting struct {
	*source
	unit  *unit
	fset  *token.FileSet
	base  token.Pos // position of the first byte of the file
	stack []ast.Node
	edits []edit
	left  []finding // uses of the queues for which there is no rule
	// contexts is set if the new text calls context.Background.
	contexts bool
}

// edit replaces the bytes from start to end of a file.
type edit struct {
	start, end int
	text       string
}

// rewrite returns the new text of a file, or the uses for which there is no rule. It returns
// neither if the file does not use client-go's queues.
func rewrite(u *unit, s *source, fset *token.FileSet) (text []byte, left []finding) {
	r := &rewriting{source: s, unit: u, fset: fset, base: fset.File(s.file.Pos()).Pos(0)}
	i := slices.IndexFunc(s.file.Imports, func(spec *ast.ImportSpec) bool { return imported(spec) == clientQueue })
	if i < 0 {
		// The file may use a queue that another file has made.
		r.walk()
		if len(r.edits) == 0 || len(r.left) > 0 {
			return nil, r.left
		}
		return r.finish(), nil
	}
	spec := s.file.Imports[i]
	if spec.Name != nil && (spec.Name.Name == "." || spec.Name.Name == "_") {
		r.leave(spec, "import", "import it by name first")
		return nil, r.left
	}
	r.replace(spec.Path.Pos(), spec.Path.End(), `"`+kinformQueue+`"`)
	r.walk()
	if len(r.left) > 0 {
		return nil, r.left
	}
	return r.finish(), nil
}

// walk applies the rules. It handles the parts of an expression before the expression itself.
func (r *rewriting) walk() {
	ast.Inspect(r.file, func(n ast.Node) bool {
		if n != nil {
			r.stack = append(r.stack, n)
			return true
		}
		last := r.stack[len(r.stack)-1]
		r.stack = r.stack[:len(r.stack)-1]
		switch n := last.(type) {
		case *ast.SelectorExpr:
			r.selector(n)
		case *ast.CallExpr:
			r.call(n)
		case *ast.UnaryExpr:
			r.bucket(n)
		case *ast.AssignStmt:
			r.get(n)
		}
		return true
	})
}

// queueName returns the name in client-go's package to which an expression refers, or "".
func (r *rewriting) queueName(e ast.Expr) (*ast.SelectorExpr, string) {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return r.queueName(x.X)
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			if p, ok := r.unit.info.Uses[id].(*types.PkgName); ok && p.Imported().Path() == clientQueue {
				return x, x.Sel.Name
			}
		}
	}
	return nil, ""
}

// parent returns a node above the current one: parent(0) is the direct parent.
func (r *rewriting) parent(n int) ast.Node {
	if len(r.stack) <= n {
		return nil
	}
	return r.stack[len(r.stack)-1-n]
}

// selector rewrites a name of the package, or of a method.
func (r *rewriting) selector(s *ast.SelectorExpr) {
	if _, name := r.queueName(s); name != "" {
		_, constructs := constructors[name]
		switch to, ok := renamed[name]; {
		case ok:
			qualifier := r.original(s.X.Pos(), s.X.End()) + "."
			if star := strings.TrimPrefix(to, "*"); star != to {
				qualifier, to = "*"+qualifier, star
			}
			r.replace(s.Pos(), s.End(), qualifier+to)
		case constructs || buckets[name] || r.isConfig(s):
			// rewritten together with the surrounding expression
		default:
			r.leave(s, clientQueueName(name), otherwise(name))
		}
		return
	}
	selection := r.unit.info.Selections[s]
	if selection == nil || selection.Obj().Pkg() == nil || selection.Obj().Pkg().Path() != clientQueue {
		return
	}
	name := s.Sel.Name
	if _, ok := selection.Obj().(*types.Func); !ok {
		r.leave(s.Sel, name, otherwise(name))
		return
	}
	to, ok := methods[name]
	call, called := r.parent(0).(*ast.CallExpr)
	called = called && call.Fun == s
	switch {
	case ok && to != name:
		r.replace(s.Sel.Pos(), s.Sel.End(), to)
	case ok:
	case name == "ShutDownWithDrain" && called && r.standsAlone() && r.hasContext(s):
		r.replace(s.Sel.Pos(), call.End(), "Drain(context.Background())")
	case name == "Get" && called && r.assigned(call) && r.hasContext(s):
		// rewritten together with the assignment
	default:
		r.leave(s.Sel, name, otherwise(name))
	}
}

// standsAlone reports whether the result of the surrounding call is discarded.
func (r *rewriting) standsAlone() bool {
	switch r.parent(1).(type) {
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

// assigned reports whether the call is the only value in an assignment that defines two variables.
func (r *rewriting) assigned(call *ast.CallExpr) bool {
	a, ok := r.parent(1).(*ast.AssignStmt)
	return ok && a.Tok == token.DEFINE && len(a.Rhs) == 1 && a.Rhs[0] == call && len(a.Lhs) == 2
}

// hasContext reports whether the name context refers to the standard package at a node, or would do
// so after an import.
func (r *rewriting) hasContext(at ast.Node) bool {
	scope := r.unit.types.Scope().Innermost(at.Pos())
	if scope == nil {
		return false
	}
	_, obj := scope.LookupParent("context", at.Pos())
	if p, ok := obj.(*types.PkgName); ok {
		if p.Imported().Path() != "context" {
			return false
		}
	} else if obj != nil || r.importsContext() {
		return false
	}
	r.contexts = true
	return true
}

func (r *rewriting) importsContext() bool {
	return slices.ContainsFunc(r.file.Imports, func(spec *ast.ImportSpec) bool { return imported(spec) == "context" })
}

// isConfig reports whether a name is the type of a literal, and the literal is an argument of a
// constructor.
func (r *rewriting) isConfig(s *ast.SelectorExpr) bool {
	step := 0
	if _, ok := r.parent(0).(*ast.IndexExpr); ok {
		step = 1
	}
	literal, ok := r.parent(step).(*ast.CompositeLit)
	if !ok || !strings.HasSuffix(s.Sel.Name, "Config") {
		return false
	}
	call, ok := r.parent(step + 1).(*ast.CallExpr)
	if !ok || !slices.Contains(call.Args, ast.Expr(literal)) {
		return false
	}
	_, name := r.queueName(call.Fun)
	_, ok = constructors[name]
	return ok
}

func clientQueueName(name string) string { return path.Base(clientQueue) + "." + name }

func (r *rewriting) leave(at ast.Node, name, advice string) {
	p := r.fset.Position(at.Pos())
	r.left = append(r.left, finding{file: r.name, line: p.Line, message: name, todo: advice})
}

func (r *rewriting) offset(p token.Pos) int { return int(p - r.base) }

func (r *rewriting) edit(from, to token.Pos, text string) edit {
	return edit{start: r.offset(from), end: r.offset(to), text: text}
}

func (r *rewriting) replace(from, to token.Pos, text string) {
	r.edits = append(r.edits, r.edit(from, to, text))
}

// original returns a part of the file as it was before the edits.
func (r *rewriting) original(from, to token.Pos) string {
	return string(r.text[r.offset(from):r.offset(to)])
}

// take returns a part of the file with its edits. It removes these edits from the list, because the
// caller writes the part in another place.
func (r *rewriting) take(n ast.Node) string {
	start, end := r.offset(n.Pos()), r.offset(n.End())
	var inside, others []edit
	for _, e := range r.edits {
		if start <= e.start && e.end <= end {
			inside = append(inside, e)
		} else {
			others = append(others, e)
		}
	}
	r.edits = others
	return string(apply(r.text[start:end], inside, start))
}

// commentIn reports whether a rewrite of a node would lose a comment. It would if the comment is in
// the node, but not in one of the parts that stay.
func (r *rewriting) commentIn(n ast.Node, stay []ast.Expr) bool {
	for _, group := range r.file.Comments {
		if group.Pos() < n.Pos() || group.End() > n.End() {
			continue
		}
		if !slices.ContainsFunc(stay, func(e ast.Expr) bool { return e.Pos() <= group.Pos() && group.End() <= e.End() }) {
			return true
		}
	}
	return false
}

// apply applies edits to text. The positions of the edits are relative to origin.
func apply(text []byte, edits []edit, origin int) []byte {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		out.Write(text[at : e.start-origin])
		out.WriteString(e.text)
		at = e.end - origin
	}
	out.Write(text[at:])
	return out.Bytes()
}

// finish applies the edits and corrects the imports. It formats the file if the file was formatted
// before.
func (r *rewriting) finish() []byte {
	text := apply(r.text, r.edits, 0)
	if r.contexts && !r.importsContext() {
		text = addImport(text, "context")
	}
	text = dropUnused(text, "golang.org/x/time/rate")
	if formatted, err := format.Source(r.text); err == nil && bytes.Equal(formatted, r.text) {
		if formatted, err := format.Source(text); err == nil {
			return formatted
		}
	}
	return text
}
