package main

import (
	"go/types"
	"slices"
	"strings"
)

// metaTypes are the types of meta/v1 that have a counterpart. All others of that package are taken as they are.
var metaTypes = []string{"Condition", "DeleteOptions", "GroupResource", "LabelSelector", "LabelSelectorRequirement",
	"ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "Preconditions", "TypeMeta"}

// scales are types that have no client of their own, and that clients of other types apply as a subresource.
var scales = []string{apis + "autoscaling/v1.Scale", apis + "autoscaling/v1.ScaleSpec", apis + "autoscaling/v1.ScaleStatus",
	apis + "apps/v1beta2.Scale", apis + "extensions/v1beta1.Scale"}

// choose finds the types that have a counterpart: those with a client that can apply them, and the structs that they hold.
func (a *api) choose() {
	for _, p := range a.packages {
		for _, name := range p.Scope().Names() {
			object, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || object.IsAlias() {
				continue
			}
			if p.Path() == metaV1 {
				if slices.Contains(metaTypes, name) {
					a.applied[object] = true
				}
				continue
			}
			if slices.Contains(scales, p.Path()+"."+name) {
				a.applied[object] = true
			}
			if m := p.markers[name]; m.client && m.applies() {
				a.reach(object.Type())
			}
		}
	}
}

// applies says whether a client of the type has Apply.
func (m markers) applies() bool {
	return m.verbs == nil || slices.Contains(m.verbs, "apply") || slices.Contains(m.verbs, "get")
}

// reach takes the structs of k8s.io/api that a type holds.
func (a *api) reach(t types.Type) {
	switch t := types.Unalias(t).(type) {
	case *types.Pointer:
		a.reach(t.Elem())
	case *types.Slice:
		a.reach(t.Elem())
	case *types.Map:
		a.reach(t.Elem())
	case *types.Named:
		object := t.Obj()
		under, ok := t.Underlying().(*types.Struct)
		if !ok || object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), apis) || a.applied[object] || under.NumFields() == 0 {
			return
		}
		a.applied[object] = true
		for field := range under.Fields() {
			a.reach(field.Type())
		}
	}
}

// counterpart returns the name of a type that has a counterpart.
func (a *api) counterpart(t types.Type) *types.TypeName {
	if named, ok := types.Unalias(t).(*types.Named); ok && a.applied[named.Obj()] {
		return named.Obj()
	}
	return nil
}
