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
)

// subresource describes a subresource other than status.
type subresource struct {
	name  string
	kind  schema.GroupVersionKind // kind of the subresource's objects
	verbs metav1.Verbs
	types flags // types that have the subresource
	serve func(*Server, http.ResponseWriter, *Request) error
}

// subresources is the table of subresources.
var subresources = []subresource{
	{"scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"), statusVerbs, scalable, (*Server).scale},
	postSubresource("binding", podSubresources, corev1.SchemeGroupVersion, &corev1.Binding{}, (*Server).bind),
	postSubresource("eviction", podSubresources, policyv1.SchemeGroupVersion, &policyv1.Eviction{}, (*Server).evict, policyv1beta1.SchemeGroupVersion),
	postSubresource("token", serviceAccountSubresources, authenticationv1.SchemeGroupVersion, &authenticationv1.TokenRequest{}, (*Server).requestToken),
	objectSubresource("ephemeralcontainers", podSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
	objectSubresource("resize", podSubresources, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
	objectSubresource("finalize", namespaceSubresources, corev1.SchemeGroupVersion.WithKind("Namespace"), metav1.Verbs{"update"}),
}

// subresources returns the subresources of the resource, except status.
func (r *resource) subresources() []subresource {
	var all []subresource
	for _, sub := range subresources {
		if r.flags&sub.types != 0 || sub.types == scalable && r.crdVersion.Subresources.Scale != nil {
			all = append(all, sub)
		}
	}
	return all
}

// groupVersion returns the group version that discovery reports for the kind. The result is empty
// if it equals the resource's group version.
func (sub subresource) groupVersion(of *resource) schema.GroupVersion {
	if gv := sub.kind.GroupVersion(); gv != of.gvk.GroupVersion() {
		return gv
	}
	return schema.GroupVersion{}
}
