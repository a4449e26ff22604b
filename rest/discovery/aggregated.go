package discovery

import (
	"cmp"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// addAggregated reads an APIGroupDiscoveryList, which has groups and versions in order of
// preference. Like kubectl, it leaves out a stale version. It reports the version as failed.
func (f *collector) addAggregated(path string, data []byte) error {
	var list apidiscovery.APIGroupDiscoveryList
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &list); err != nil {
		return err
	}
	hasInvalidName := false
	for _, g := range list.Items {
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			if gv.Group != "" && !isName(gv.Group) || !isName(gv.Version) {
				hasInvalidName = true
				continue
			}
			if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
				f.addFailure(Failure{GroupVersion: gv, Path: path + "/" + gv.String(), Err: ErrStale})
				continue
			}
			for _, r := range v.Resources {
				if r.ResponseKind == nil {
					continue // it has only subresources
				}
				f.add(Resource{
					Group:      gv.Group,
					Version:    gv.Version,
					Plural:     r.Resource,
					Singular:   r.SingularResource,
					Kind:       r.ResponseKind.Kind,
					ShortNames: r.ShortNames,
					Categories: r.Categories,
					Verbs:      r.Verbs,
					Namespaced: r.Scope == apidiscovery.ScopeNamespace,
				})
			}
		}
	}
	if hasInvalidName {
		f.addInvalidName(path)
	}
	return nil
}

// add adds a resource, unless it is a subresource or has no name.
func (f *collector) add(r Resource) {
	if !isName(r.Plural) || !isName(r.Kind) || len(r.Singular) > maxName {
		return
	}
	r.Singular = cmp.Or(r.Singular, strings.ToLower(r.Kind))
	f.resources = append(f.resources, r)
}
