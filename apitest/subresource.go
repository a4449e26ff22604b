package apitest

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// subresource describes a subresource other than status.
type subresource struct {
	name  string
	kind  schema.GroupVersionKind // kind of the subresource's objects
	verbs metav1.Verbs
	types storage.Flags // types that have the subresource
	serve func(*Server, http.ResponseWriter, *Request) error
}

// subresources is the table of subresources.
var subresources = []subresource{
	{"scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"), statusVerbs, storage.Scalable, (*Server).scale},
	postSubresource("binding", storage.PodSubresources, corev1.SchemeGroupVersion, &corev1.Binding{}, (*Server).bind),
	postSubresource("eviction", storage.PodSubresources, policyv1.SchemeGroupVersion, &policyv1.Eviction{}, (*Server).evict, policyv1beta1.SchemeGroupVersion),
	postSubresource("token", storage.ServiceAccountSubresources, authenticationv1.SchemeGroupVersion, &authenticationv1.TokenRequest{}, (*Server).requestToken),
	objectSubresource("ephemeralcontainers", storage.PodSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
	objectSubresource("resize", storage.PodSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
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

// groupVersion returns the group version that discovery reports for the kind. The result is empty
// if it equals the resource's group version.
func (sub subresource) groupVersion(of *storage.Resource) schema.GroupVersion {
	if gv := sub.kind.GroupVersion(); gv != of.GVK.GroupVersion() {
		return gv
	}
	return schema.GroupVersion{}
}
