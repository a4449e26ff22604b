package migrate

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// call rewrites a call of a constructor.
func (r *rewriting) call(c *ast.CallExpr) {
	s, name := r.queueName(c.Fun)
	parameters, ok := constructors[name]
	if !ok {
		return
	}
	element, ok := r.element(c.Fun, s, name)
	if !ok || len(c.Args) != len(parameters) || r.commentIn(c, c.Args) {
		r.leave(s, clientQueueName(name), otherwise(name))
		return
	}
	var fields []string
	for i, p := range parameters {
		switch p {
		case theLimiter:
			fields = append(fields, "RateLimiter: "+r.take(c.Args[i]))
		case theName:
			fields = append(fields, "Name: "+r.take(c.Args[i]))
		case theConfig:
			literal, ok := c.Args[i].(*ast.CompositeLit)
			if !ok || r.commentIn(literal, nil) {
				r.leave(c.Args[i], clientQueueName(name), "only Name of the config has a counterpart: write workqueue.New(workqueue.Options[K]{Name: ..., RateLimiter: ...})")
				return
			}
			for _, e := range literal.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if key, is := keyOf(kv, ok); !is || key != "Name" {
					r.leave(e, clientQueueName(name), "only Name of the config has a counterpart: see workqueue.Options for the others")
					return
				}
				fields = append(fields, "Name: "+r.take(kv.Value))
			}
		}
	}
	slices.Sort(fields) // The field Name comes first.
	qualifier := r.original(s.X.Pos(), s.X.End())
	r.take(c)
	r.replace(c.Pos(), c.End(), qualifier+".New("+qualifier+".Options["+element+"]{"+strings.Join(fields, ", ")+"})")
}

func keyOf(kv *ast.KeyValueExpr, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	id, ok := kv.Key.(*ast.Ident)
	if !ok {
		return "", false
	}
	return id.Name, true
}

// element returns the type of a queue's keys, as the file spells it.
func (r *rewriting) element(fun ast.Expr, s *ast.SelectorExpr, name string) (string, bool) {
	if index, ok := fun.(*ast.IndexExpr); ok {
		return r.original(index.Index.Pos(), index.Index.End()), true
	}
	if !strings.Contains(name, "Typed") {
		return "any", true
	}
	instance, ok := r.unit.info.Instances[s.Sel]
	if !ok || instance.TypeArgs.Len() != 1 {
		return "", false
	}
	known := true
	text := types.TypeString(instance.TypeArgs.At(0), func(p *types.Package) string {
		if p == r.unit.types {
			return ""
		}
		for _, spec := range r.file.Imports {
			if imported(spec) != p.Path() {
				continue
			}
			if spec.Name != nil {
				return spec.Name.Name
			}
			return p.Name()
		}
		known = false
		return ""
	})
	return text, known
}

// bucket rewrites &TypedBucketRateLimiter{Limiter: rate.NewLimiter(qps, burst)}.
func (r *rewriting) bucket(u *ast.UnaryExpr) {
	literal, ok := u.X.(*ast.CompositeLit)
	if !ok || u.Op != token.AND {
		return
	}
	s, name := r.queueName(literal.Type)
	if !buckets[name] {
		return
	}
	element := "any"
	if index, ok := literal.Type.(*ast.IndexExpr); ok {
		element = r.original(index.Index.Pos(), index.Index.End())
	}
	qps, burst := r.limiter(literal)
	if qps == nil || r.commentIn(u, []ast.Expr{qps, burst}) {
		r.leave(s, clientQueueName(name), "kinform's counterpart is workqueue.Bucket[K](qps, burst)")
		return
	}
	rate := r.take(qps)
	if c, ok := qps.(*ast.CallExpr); ok && len(c.Args) == 1 && r.unit.info.Types[c.Fun].IsType() {
		// rate.Limit(x)
		qps = c.Args[0]
		rate = r.original(qps.Pos(), qps.End())
	}
	if v := r.unit.info.Types[qps]; (v.Value == nil || v.Value.Kind() == constant.Unknown) && !types.Identical(v.Type, types.Typ[types.Float64]) {
		rate = "float64(" + rate + ")"
	}
	text := r.original(s.X.Pos(), s.X.End()) + ".Bucket[" + element + "](" + rate + ", " + r.take(burst) + ")"
	r.take(u)
	r.replace(u.Pos(), u.End(), text)
}

// limiter returns the two arguments of rate.NewLimiter in the literal of a bucket. It returns nil
// if the literal has another form.
func (r *rewriting) limiter(literal *ast.CompositeLit) (qps, burst ast.Expr) {
	if len(literal.Elts) != 1 {
		return nil, nil
	}
	value := literal.Elts[0]
	if kv, ok := value.(*ast.KeyValueExpr); ok {
		value = kv.Value
	}
	call, ok := value.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return nil, nil
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, nil
	}
	f, ok := r.unit.info.Uses[s.Sel].(*types.Func)
	if !ok || f.FullName() != "golang.org/x/time/rate.NewLimiter" {
		return nil, nil
	}
	return call.Args[0], call.Args[1]
}

// get rewrites an assignment key, shutdown := queue.Get(). The second variable becomes an error,
// and the code that uses it compares it with nil.
func (r *rewriting) get(a *ast.AssignStmt) {
	if len(a.Rhs) != 1 || len(a.Lhs) != 2 || a.Tok != token.DEFINE {
		return
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok {
		return
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Get" || len(call.Args) != 0 {
		return
	}
	selection := r.unit.info.Selections[s]
	if selection == nil || selection.Obj().Pkg() == nil || selection.Obj().Pkg().Path() != clientQueue {
		return
	}
	id, ok := a.Lhs[1].(*ast.Ident)
	if !ok {
		r.leave(s.Sel, "Get", otherwise("Get"))
		return
	}
	if id.Name != "_" {
		obj := r.unit.info.Defs[id]
		if obj == nil || !r.asksForError(obj) {
			r.leave(s.Sel, "Get", otherwise("Get"))
			return
		}
	}
	r.replace(call.Lparen, call.End(), "(context.Background())")
}

// asksForError changes the code that uses a bool variable: it now compares an error with nil. It
// reports whether all uses can be changed in this way.
func (r *rewriting) asksForError(obj types.Object) bool {
	possible := true
	var stack []ast.Node
	var edits []edit
	ast.Inspect(r.file, func(n ast.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && r.unit.info.Uses[id] == obj {
			from, to, text := id.Pos(), id.End(), id.Name+" != nil"
			switch around := stack[len(stack)-1].(type) {
			case *ast.UnaryExpr:
				if around.Op != token.NOT {
					possible = false
				}
				from, text = around.Pos(), id.Name+" == nil"
				if outer, ok := stack[len(stack)-2].(*ast.BinaryExpr); ok && outer.Op != token.LAND && outer.Op != token.LOR {
					text = "(" + text + ")"
				}
			case *ast.BinaryExpr:
				if around.Op != token.LAND && around.Op != token.LOR {
					text = "(" + text + ")"
				}
			case *ast.AssignStmt:
				possible = possible && !slices.Contains(around.Lhs, ast.Expr(id))
			}
			edits = append(edits, r.edit(from, to, text))
		}
		stack = append(stack, n)
		return true
	})
	if possible {
		r.edits = append(r.edits, edits...)
	}
	return possible
}
