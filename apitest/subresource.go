package apitest

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/discovery"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// subresource describes a subresource other than status.
type subresource struct {
	discovery.Subresource
	types storage.Flags // types that have the subresource
	serve func(*Server, http.ResponseWriter, *Request) error
}

// subresources is the table of subresources.
var subresources = []subresource{
	{discovery.Subresource{Name: "scale", Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale"), Verbs: discovery.StatusVerbs}, storage.Scalable, (*Server).scale},
	postSubresource("binding", storage.PodSubresources, corev1.SchemeGroupVersion, &corev1.Binding{}, (*Server).bind),
	postSubresource("eviction", storage.PodSubresources, policyv1.SchemeGroupVersion, &policyv1.Eviction{}, (*Server).evict, policyv1beta1.SchemeGroupVersion),
	postSubresource("token", storage.ServiceAccountSubresources, authenticationv1.SchemeGroupVersion, &authenticationv1.TokenRequest{}, (*Server).requestToken),
	objectSubresource("ephemeralcontainers", storage.PodSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), discovery.StatusVerbs),
	objectSubresource("resize", storage.PodSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), discovery.StatusVerbs),
	objectSubresource("finalize", storage.NamespaceSubresources, corev1.SchemeGroupVersion.WithKind("Namespace"), metav1.Verbs{"update"}),
}

// subresourcesOf returns the subresources of the resource, except status.
func subresourcesOf(r *storage.Resource) []subresource {
	var all []subresource
	for _, sub := range subresources {
		if r.Flags&sub.types != 0 || sub.types == storage.Scalable && r.CRDVersion.Subresources.Scale != nil {
			all = append(all, sub)
		}
	}
	return all
}

// catalog returns what discovery describes.
func (s *Server) catalog() discovery.Catalog {
	return discovery.Catalog{Resources: s.store.Resources(), Subresources: func(res *storage.Resource) (names []discovery.Subresource) {
		for _, sub := range subresourcesOf(res) {
			names = append(names, sub.Subresource)
		}
		return names
	}}
}
