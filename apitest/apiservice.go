package apitest

import (
	"slices"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/discovery"
)

// apiServices is the resource that has one object for each group version.
var apiServices = Resource{
	Group: discovery.APIServiceKind.Group, Version: discovery.APIServiceKind.Version, Plural: "apiservices", Kind: discovery.APIServiceKind.Kind,
	Categories: []string{"api-extensions"}, ClusterScoped: true, Status: true,
}

// registerAtStart registers the resources that the server serves from the beginning. The
// registration does not count as a write.
func (s *Server) registerAtStart() error {
	registered := s.store.Resource(apiServices.GroupVersionResource())
	for _, res := range s.store.Resources() {
		u := discovery.APIService(res.GVK.GroupVersion())
		if err := s.store.Seed(registered, u); err != nil {
			return err
		}
	}
	return nil
}

// register writes an APIService for each group version that has become served. It deletes the
// APIServices of group versions that are no longer served. Two calls must not overlap.
func (s *Server) register() error {
	registered := s.store.Resource(apiServices.GroupVersionResource())
	if registered == nil {
		return nil // The server is still being constructed.
	}
	var served []string
	for _, res := range s.store.Resources() {
		u := discovery.APIService(res.GVK.GroupVersion())
		served = append(served, u.GetName())
		if s.store.Get(registered, apiobject.Key(u)) == nil {
			if _, err := s.store.Put(registered, nil, u); err != nil {
				return err
			}
		}
	}
	objects, _ := s.store.Snapshot(registered)
	for rev := range objects.InNamespace("") {
		managed := rev.Labels["kube-aggregator.kubernetes.io/automanaged"]
		if managed == "true" && !slices.Contains(served, rev.Key.Name) {
			if _, err := s.store.Remove(registered, rev); err != nil {
				return err
			}
		}
	}
	return nil
}
