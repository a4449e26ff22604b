package discovery

import (
	"slices"
	"strings"
)

// Find returns the resource that name means, by kubectl's rules. A name is a plural, a singular, a
// short name or a kind, in any case. After a dot, a group may follow, or the beginning of a group,
// or a version and a group:
//
//	pods  pod  po  Pod
//	deployments.apps  certificates.cert-manager.io  ingresses.networking
//	deployments.v1.apps  pods.v1.
//
// If several resources match, a plural or a singular takes precedence over a short name, and a
// short name over a kind. Next, a preferred version takes precedence over other versions. Finally,
// the order of resources decides; [Resources] puts the core group first.
//
// The error is a [*NotFoundError].
func Find(resources []Resource, name string) (Resource, error) {
	for _, q := range parseName(strings.ToLower(name)) {
		for _, matches := range nameMatchers {
			if r, ok := q.best(resources, matches); ok {
				return r, nil
			}
		}
	}
	return Resource{}, &NotFoundError{Name: name, Similar: similar(resources, name)}
}

// query is one possible meaning of a name with dots.
type query struct {
	name       string
	version    string
	group      string
	anyVersion bool
	anyGroup   bool
}

// parseName returns the possible meanings of a name in lower case. The text after the first dot may
// be a version and a group, or only a group.
func parseName(name string) []query {
	name, qualifier, qualified := strings.Cut(name, ".")
	if !qualified {
		return []query{{name: name, anyVersion: true, anyGroup: true}}
	}
	asGroup := query{name: name, group: qualifier, anyVersion: true}
	if version, group, ok := strings.Cut(qualifier, "."); ok {
		return []query{{name: name, version: version, group: group}, asGroup}
	}
	return []query{asGroup}
}

// nameMatchers are the kinds of names, in order of precedence.
var nameMatchers = []func(r *Resource, name string) bool{
	func(r *Resource, name string) bool {
		return name == strings.ToLower(r.Plural) || name == strings.ToLower(r.Singular)
	},
	func(r *Resource, name string) bool { return slices.Contains(r.ShortNames, name) },
	func(r *Resource, name string) bool { return name == strings.ToLower(r.Kind) },
}

// best returns the best of the resources that match. A resource whose whole group matches is better
// than one whose group only begins with the query's group.
func (q query) best(resources []Resource, matches func(*Resource, string) bool) (Resource, bool) {
	best, rank := -1, 0
	for i := range resources {
		r := &resources[i]
		if !matches(r, q.name) || (!q.anyVersion && r.Version != q.version) {
			continue
		}
		found := 1
		switch {
		case q.anyGroup || r.Group == q.group:
			found += 2
		case q.group == "" || !strings.HasPrefix(r.Group, q.group):
			continue
		}
		if r.Preferred {
			found++
		}
		if found > rank {
			best, rank = i, found
		}
	}
	if best < 0 {
		return Resource{}, false
	}
	return resources[best], true
}
