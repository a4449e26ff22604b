package model

import (
	"go/types"
	"slices"
	"strings"
)

// MetaTypes are the types of meta/v1 that have a counterpart. The counterpart of a type is its
// apply configuration. Other types of that package are used unchanged.
var MetaTypes = []string{"Condition", "DeleteOptions", "GroupResource", "LabelSelector", "LabelSelectorRequirement",
	"ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "Preconditions", "TypeMeta"}

// scales are types without a client that have a counterpart nevertheless. Clients of other types
// apply them as a subresource.
var scales = []string{APIs + "autoscaling/v1.Scale", APIs + "autoscaling/v1.ScaleSpec", APIs + "autoscaling/v1.ScaleStatus",
	APIs + "apps/v1beta2.Scale", APIs + "extensions/v1beta1.Scale"}

// findCounterparts finds the types that have a counterpart: types whose client can apply them, and
// the structs that these types contain.
func (a *API) findCounterparts() {
	for _, p := range a.Packages {
		for _, name := range p.Scope().Names() {
			object, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || object.IsAlias() {
				continue
			}
			if p.Path() == MetaV1 {
				if slices.Contains(MetaTypes, name) {
					a.Applied[object] = true
				}
				continue
			}
			if slices.Contains(scales, p.Path()+"."+name) {
				a.Applied[object] = true
			}
			if m := p.Markers[name]; m.Client && m.Applies() {
				a.addReachable(object.Type())
			}
		}
	}
}

// Applies reports whether a client of the type has Apply.
func (m Markers) Applies() bool {
	return m.Verbs == nil || slices.Contains(m.Verbs, "apply") || slices.Contains(m.Verbs, "get")
}

// addReachable adds a type to the types with a counterpart if it is a struct of k8s.io/api, and all
// such structs that it contains.
func (a *API) addReachable(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		a.addReachable(t.Elem())
	case *types.Slice:
		a.addReachable(t.Elem())
	case *types.Map:
		a.addReachable(t.Elem())
	case *types.Named:
		object := t.Obj()
		under, ok := t.Underlying().(*types.Struct)
		if !ok || object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), APIs) || a.Applied[object] || under.NumFields() == 0 {
			return
		}
		a.Applied[object] = true
		for field := range under.Fields() {
			a.addReachable(field.Type())
		}
	}
}

// Counterpart returns the type's name if the type has a counterpart, and nil if it has none.
func (a *API) Counterpart(t types.Type) *types.TypeName {
	if named, ok := types.Unalias(t).(*types.Named); ok && a.Applied[named.Obj()] {
		return named.Obj()
	}
	return nil
}
