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

// subresource is a subresource other than status.
type subresource struct {
	name   string
	kind   schema.GroupVersionKind // kind of the subresource's objects
	verbs  metav1.Verbs
	of     flags // types that have the subresource
	answer func(*Server, http.ResponseWriter, *Request) error
}

// subresources is the table of subresources.
var subresources = []subresource{
	{"scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"), statusVerbs, scalable, (*Server).scale},
	posted("binding", ofPods, corev1.SchemeGroupVersion, &corev1.Binding{}, (*Server).bind),
	posted("eviction", ofPods, policyv1.SchemeGroupVersion, &policyv1.Eviction{}, (*Server).evict, policyv1beta1.SchemeGroupVersion),
	posted("token", ofServiceAccounts, authenticationv1.SchemeGroupVersion, &authenticationv1.TokenRequest{}, (*Server).requestToken),
	written("ephemeralcontainers", ofPods, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
	written("resize", ofPods, corev1.SchemeGroupVersion.WithKind("Pod"), statusVerbs),
	written("finalize", ofNamespaces, corev1.SchemeGroupVersion.WithKind("Namespace"), metav1.Verbs{"update"}),
}

// subresources returns the subresources of the resource, except status.
func (r *resource) subresources() []subresource {
	var all []subresource
	for _, sub := range subresources {
		if r.flags&sub.of != 0 || sub.of == scalable && r.defined.Subresources.Scale != nil {
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
