package rest

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/internal/decode"
)

// builtins lists the types that every Kubernetes server has. Each line has a Go package, its group
// ("-" for the core group), and its kinds. The package lacks its version, and is below k8s.io/api
// if it has no dot. Kinds with a star have no namespace. A kind has the same plural in every
// version.
const builtins = `
admissionregistration admissionregistration.k8s.io MutatingAdmissionPolicy* MutatingAdmissionPolicyBinding* MutatingWebhookConfiguration* ValidatingAdmissionPolicy* ValidatingAdmissionPolicyBinding* ValidatingWebhookConfiguration*
apiserverinternal internal.apiserver.k8s.io StorageVersion*
apps apps ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
authentication authentication.k8s.io SelfSubjectReview* TokenReview*
authorization authorization.k8s.io LocalSubjectAccessReview SelfSubjectAccessReview* SelfSubjectRulesReview* SubjectAccessReview*
autoscaling autoscaling HorizontalPodAutoscaler
batch batch CronJob Job
certificates certificates.k8s.io CertificateSigningRequest* ClusterTrustBundle* PodCertificateRequest
coordination coordination.k8s.io Lease LeaseCandidate
core - Binding ComponentStatus* ConfigMap Endpoints Event LimitRange Namespace* Node* PersistentVolume* PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount
discovery discovery.k8s.io EndpointSlice
events events.k8s.io Event
extensions extensions DaemonSet Deployment Ingress NetworkPolicy ReplicaSet
flowcontrol flowcontrol.apiserver.k8s.io FlowSchema* PriorityLevelConfiguration*
lifecycle lifecycle.k8s.io Eviction EvictionRequest
networking networking.k8s.io IPAddress* Ingress IngressClass* NetworkPolicy ServiceCIDR*
node node.k8s.io RuntimeClass*
policy policy PodDisruptionBudget
rbac rbac.authorization.k8s.io ClusterRole* ClusterRoleBinding* Role RoleBinding
resource resource.k8s.io DeviceClass* DeviceTaintRule* ResourceClaim ResourceClaimTemplate ResourcePoolStatusRequest* ResourceSlice*
scheduling scheduling.k8s.io CompositePodGroup PodGroup PriorityClass* Workload
storage storage.k8s.io CSIDriver* CSINode* CSIStorageCapacity StorageClass* VolumeAttachment* VolumeAttributesClass*
storagemigration storagemigration.k8s.io StorageVersionMigration*
k8s.io/apiextensions-apiserver/pkg/apis/apiextensions apiextensions.k8s.io CustomResourceDefinition*
k8s.io/kube-aggregator/pkg/apis/apiregistration apiregistration.k8s.io APIService*
`

// Builtin returns the resource of a built-in kind, in the version of kind, and whether its objects
// have namespaces. ok is false if no group has this kind. Builtin does not check whether the
// version exists.
func Builtin(kind schema.GroupVersionKind) (resource schema.GroupVersionResource, namespaced, ok bool) {
	for line := range strings.Lines(builtins) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.TrimPrefix(fields[1], "-") != kind.Group {
			continue
		}
		for _, name := range fields[2:] {
			if name, starred := strings.CutSuffix(name, "*"); name == kind.Kind {
				return kind.GroupVersion().WithResource(plural(name)), !starred, true
			}
		}
	}
	return schema.GroupVersionResource{}, false, false
}

// BuiltinKind returns the kind of a built-in Go type, such as *corev1.Pod or corev1.Pod. It is
// useful because decoded objects of these types lack their kind. ok is false for any other type,
// and for nil.
func BuiltinKind(t reflect.Type) (kind schema.GroupVersionKind, ok bool) {
	if t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	resource, _, ok := builtinType(t)
	if !ok {
		return kind, false
	}
	return resource.GroupVersion().WithKind(t.Name()), true
}

// builtinType is like Builtin, for a Go type. t may be nil.
func builtinType(t reflect.Type) (resource schema.GroupVersionResource, namespaced, ok bool) {
	if t == nil {
		return resource, false, false
	}
	path := t.PkgPath()
	slash := max(strings.LastIndexByte(path, '/'), 0)
	for line := range strings.Lines(builtins) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		folder := fields[0]
		if !strings.Contains(folder, ".") {
			folder = "k8s.io/api/" + folder
		}
		if folder == path[:slash] {
			return Builtin(schema.GroupVersionKind{Group: strings.TrimPrefix(fields[1], "-"), Version: path[slash+1:], Kind: t.Name()})
		}
	}
	return resource, false, false
}

// plural returns the name of a built-in kind in URLs, such as "pods".
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case name == "endpoints":
		return name
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return name[:len(name)-1] + "ies"
	}
	return name + "s"
}

// newKindChecker returns the KindChecker of a resource. The expected kind is the user's, otherwise
// the kind of a built-in type, otherwise the kind of a built-in resource.
func newKindChecker(gvr schema.GroupVersionResource, kind string, t reflect.Type, partial bool) *decode.KindChecker {
	k := decode.Kinds{APIVersion: gvr.GroupVersion().String(), Kind: kind, Partial: partial}
	if k.Kind == "" && t.Kind() == reflect.Pointer {
		if resource, _, ok := builtinType(t.Elem()); ok && resource.Group == gvr.Group {
			k.Kind, k.Builtin = t.Elem().Name(), true
		}
	}
	if k.Kind == "" {
		k.Kind = builtinKind(gvr.GroupResource())
		k.Builtin = k.Kind != ""
	}
	return decode.NewKindChecker(k)
}

// builtinKind returns the kind of a built-in resource, or "".
func builtinKind(resource schema.GroupResource) string {
	for line := range strings.Lines(builtins) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.TrimPrefix(fields[1], "-") != resource.Group {
			continue
		}
		for _, name := range fields[2:] {
			if name = strings.TrimSuffix(name, "*"); plural(name) == resource.Resource {
				return name
			}
		}
	}
	return ""
}
