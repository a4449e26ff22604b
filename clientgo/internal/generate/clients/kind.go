package main

import (
	"go/types"
	"slices"
	"strings"

	"k8s.io/client-go/internal/generate/model"
)

// version is a group version, with the kinds that have clients.
type version struct {
	*model.Package
	kinds []kind
}

// kind is a type with a client.
type kind struct {
	model.Markers
	object *types.TypeName
}

// versions returns the group versions in the order of their folders.
func versions(a *model.API) (all []version) {
	for _, p := range a.Packages {
		v := version{Package: p}
		for _, name := range p.Scope().Names() {
			if m := p.Markers[name]; m.Client {
				v.kinds = append(v.kinds, kind{m, p.Scope().Lookup(name).(*types.TypeName)})
			}
		}
		if len(v.kinds) > 0 {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, func(a, b version) int { return strings.Compare(a.Folder(), b.Folder()) })
	return all
}

// goName returns the group's name in clientsets, such as Apps, Core or Admissionregistration.
func (v version) goName() string {
	group, _, _ := strings.Cut(v.Group(), ".")
	if group == "" {
		group = "core"
	}
	return title(group)
}

// name returns the group version's name in clientsets, such as AppsV1.
func (v version) name() string { return v.goName() + title(v.Version()) }

// folder returns the name of the group's folder, which may differ from the group's name.
func (v version) folder() string { return strings.Split(v.Folder(), "/")[0] }

// listed returns the kinds that can be listed and watched.
func (v version) listed() (kinds []kind) {
	for _, k := range v.kinds {
		if k.has("list") && k.has("watch") {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (k kind) name() string { return k.object.Name() }

// plural returns the resource's name in Go identifiers, such as NetworkPolicies.
func (k kind) plural() string {
	name := k.name()
	switch {
	case name == "Endpoints":
		return name
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"), strings.HasSuffix(name, "ch"), strings.HasSuffix(name, "sh"):
		return name + "es"
	case strings.HasSuffix(name, "y") && !strings.ContainsAny(name[len(name)-2:len(name)-1], "aeiou"):
		return strings.TrimSuffix(name, "y") + "ies"
	default:
		return name + "s"
	}
}

// resource returns the resource's name in paths, such as networkpolicies.
func (k kind) resource() string { return strings.ToLower(k.plural()) }

// has reports whether the kind's client has a verb.
func (k kind) has(verb string) bool {
	switch {
	case k.NoVerbs, slices.Contains(k.SkipVerbs, verb):
		return false
	case k.Verbs != nil:
		return slices.Contains(k.Verbs, verb)
	case verb == "updateStatus", verb == "applyStatus":
		return k.hasStatus()
	default:
		return true
	}
}

func (k kind) hasStatus() bool {
	under := k.object.Type().Underlying().(*types.Struct)
	for field := range under.Fields() {
		if field.Name() == "Status" {
			return !k.NoStatus
		}
	}
	return false
}

// method returns the method with this name that the kind's markers define.
func (k kind) method(name string) model.Method {
	return k.Methods[slices.IndexFunc(k.Methods, func(m model.Method) bool { return m.Name == name })]
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// lower returns the unexported form of a name. As in client-go, CSIDriver becomes cSIDriver.
func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }
