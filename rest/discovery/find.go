package discovery

import (
	"slices"
	"strings"
)

// Find returns the resource that name means, as kubectl understands it. A name
// is a plural, singular or short name or a kind, and case does not matter; it may
// be followed by a group or its beginning, or by a version and a group:
//
//	pods  pod  po  Pod
//	deployments.apps  certificates.cert-manager.io  ingresses.networking
//	deployments.v1.apps  pods.v1.
//
// Where several resources match, full names go before short names and those
// before kinds, then a preferred version before others, then the first in
// resources, which [Resources] returns with the core group in front.
//
// The error is a [*NotFoundError].
func Find(resources []Resource, name string) (Resource, error) {
	for _, q := range readings(strings.ToLower(name)) {
		for _, matches := range tiers {
			if r, ok := q.best(resources, matches); ok {
				return r, nil
			}
		}
	}
	return Resource{}, &NotFoundError{Name: name, Similar: similar(resources, name)}
}

// query is one way to read a name.
type query struct {
	name       string
	version    string
	group      string
	anyVersion bool
	anyGroup   bool
}

// readings returns the ways to read a name in lower case: what follows the first
// dot is a version and a group, or else all of it is the group.
func readings(name string) []query {
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

// tiers are what a name may be, best first.
var tiers = []func(r *Resource, name string) bool{
	func(r *Resource, name string) bool {
		return name == strings.ToLower(r.Plural) || name == strings.ToLower(r.Singular)
	},
	func(r *Resource, name string) bool { return slices.Contains(r.ShortNames, name) },
	func(r *Resource, name string) bool { return name == strings.ToLower(r.Kind) },
}

// best returns the best of the resources that match. A group matches whole or, if
// none does, by its beginning.
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
