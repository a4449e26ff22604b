package apitest

import (
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtinType is an entry of the table of built-in types.
type builtinType struct {
	plural     string
	object     Object
	flags      flags
	shortNames string // short names, separated by commas
}

// flags describe built-in types for discovery and for writes.
type flags uint8

const (
	namespaced      flags = 1 << iota
	status                // has a status subresource
	inCategoryAll         // is shown by "kubectl get all"
	scalable              // has a scale subresource
	podSubresources       // has the subresources of pods
	namespaceSubresources
	serviceAccountSubresources
	createOnUpdate // an update creates a missing object (AllowCreateOnUpdate in the real server)
)

// builtins is the table of built-in types: every stored type of the stable versions in k8s.io/api,
// and the beta types without a stable version. Groups are in the order of discovery. Within a
// group, the first version is the preferred version.
var builtins = []struct {
	version schema.GroupVersion
	rows    []builtinType
}{
	{corev1.SchemeGroupVersion, []builtinType{
		{"configmaps", &corev1.ConfigMap{}, namespaced, "cm"},
		//lint:ignore SA1019 Deprecated or not, a server has it.
		{"endpoints", &corev1.Endpoints{}, namespaced | createOnUpdate, "ep"},
		{"events", &corev1.Event{}, namespaced | createOnUpdate, "ev"},
		{"limitranges", &corev1.LimitRange{}, namespaced | createOnUpdate, "limits"},
		{"namespaces", &corev1.Namespace{}, status | namespaceSubresources, "ns"},
		{"nodes", &corev1.Node{}, status, "no"},
		{"persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, namespaced | status, "pvc"},
		{"persistentvolumes", &corev1.PersistentVolume{}, status, "pv"},
		{"pods", &corev1.Pod{}, namespaced | status | inCategoryAll | podSubresources, "po"},
		{"podtemplates", &corev1.PodTemplate{}, namespaced, ""},
		{"replicationcontrollers", &corev1.ReplicationController{}, namespaced | status | inCategoryAll | scalable, "rc"},
		{"resourcequotas", &corev1.ResourceQuota{}, namespaced | status, "quota"},
		{"secrets", &corev1.Secret{}, namespaced, ""},
		{"serviceaccounts", &corev1.ServiceAccount{}, namespaced | serviceAccountSubresources, "sa"},
		{"services", &corev1.Service{}, namespaced | status | inCategoryAll | createOnUpdate, "svc"},
	}},
	{admissionregistrationv1.SchemeGroupVersion, []builtinType{
		{"mutatingadmissionpolicies", &admissionregistrationv1.MutatingAdmissionPolicy{}, 0, ""},
		{"mutatingadmissionpolicybindings", &admissionregistrationv1.MutatingAdmissionPolicyBinding{}, 0, ""},
		{"mutatingwebhookconfigurations", &admissionregistrationv1.MutatingWebhookConfiguration{}, 0, ""},
		{"validatingadmissionpolicies", &admissionregistrationv1.ValidatingAdmissionPolicy{}, status, ""},
		{"validatingadmissionpolicybindings", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, 0, ""},
		{"validatingwebhookconfigurations", &admissionregistrationv1.ValidatingWebhookConfiguration{}, 0, ""},
	}},
	{appsv1.SchemeGroupVersion, []builtinType{
		{"controllerrevisions", &appsv1.ControllerRevision{}, namespaced, ""},
		{"daemonsets", &appsv1.DaemonSet{}, namespaced | status | inCategoryAll, "ds"},
		{"deployments", &appsv1.Deployment{}, namespaced | status | inCategoryAll | scalable, "deploy"},
		{"replicasets", &appsv1.ReplicaSet{}, namespaced | status | inCategoryAll | scalable, "rs"},
		{"statefulsets", &appsv1.StatefulSet{}, namespaced | status | inCategoryAll | scalable, "sts"},
	}},
	{autoscalingv2.SchemeGroupVersion, []builtinType{
		{"horizontalpodautoscalers", &autoscalingv2.HorizontalPodAutoscaler{}, namespaced | status | inCategoryAll, "hpa"},
	}},
	{autoscalingv1.SchemeGroupVersion, []builtinType{
		{"horizontalpodautoscalers", &autoscalingv1.HorizontalPodAutoscaler{}, namespaced | status | inCategoryAll, "hpa"},
	}},
	{batchv1.SchemeGroupVersion, []builtinType{
		{"cronjobs", &batchv1.CronJob{}, namespaced | status | inCategoryAll, "cj"},
		{"jobs", &batchv1.Job{}, namespaced | status | inCategoryAll, ""},
	}},
	{certificatesv1.SchemeGroupVersion, []builtinType{
		{"certificatesigningrequests", &certificatesv1.CertificateSigningRequest{}, status, "csr"},
		{"clustertrustbundles", &certificatesv1.ClusterTrustBundle{}, 0, ""},
		{"podcertificaterequests", &certificatesv1.PodCertificateRequest{}, namespaced | status, ""},
	}},
	{coordinationv1.SchemeGroupVersion, []builtinType{
		{"leases", &coordinationv1.Lease{}, namespaced | createOnUpdate, ""},
	}},
	{coordinationv1beta1.SchemeGroupVersion, []builtinType{
		{"leasecandidates", &coordinationv1beta1.LeaseCandidate{}, namespaced | createOnUpdate, ""},
	}},
	{discoveryv1.SchemeGroupVersion, []builtinType{
		{"endpointslices", &discoveryv1.EndpointSlice{}, namespaced, ""},
	}},
	{eventsv1.SchemeGroupVersion, []builtinType{
		{"events", &eventsv1.Event{}, namespaced | createOnUpdate, "ev"},
	}},
	{flowcontrolv1.SchemeGroupVersion, []builtinType{
		{"flowschemas", &flowcontrolv1.FlowSchema{}, status, ""},
		{"prioritylevelconfigurations", &flowcontrolv1.PriorityLevelConfiguration{}, status, ""},
	}},
	{networkingv1.SchemeGroupVersion, []builtinType{
		{"ingressclasses", &networkingv1.IngressClass{}, 0, ""},
		{"ingresses", &networkingv1.Ingress{}, namespaced | status, "ing"},
		{"ipaddresses", &networkingv1.IPAddress{}, 0, "ip"},
		{"networkpolicies", &networkingv1.NetworkPolicy{}, namespaced, "netpol"},
		{"servicecidrs", &networkingv1.ServiceCIDR{}, status, ""},
	}},
	{nodev1.SchemeGroupVersion, []builtinType{
		{"runtimeclasses", &nodev1.RuntimeClass{}, createOnUpdate, ""},
	}},
	{policyv1.SchemeGroupVersion, []builtinType{
		{"poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, namespaced | status, "pdb"},
	}},
	{rbacv1.SchemeGroupVersion, []builtinType{
		{"clusterrolebindings", &rbacv1.ClusterRoleBinding{}, createOnUpdate, ""},
		{"clusterroles", &rbacv1.ClusterRole{}, createOnUpdate, ""},
		{"rolebindings", &rbacv1.RoleBinding{}, namespaced | createOnUpdate, ""},
		{"roles", &rbacv1.Role{}, namespaced | createOnUpdate, ""},
	}},
	{resourcev1.SchemeGroupVersion, []builtinType{
		{"deviceclasses", &resourcev1.DeviceClass{}, 0, ""},
		{"devicetaintrules", &resourcev1.DeviceTaintRule{}, status, ""},
		{"resourceclaims", &resourcev1.ResourceClaim{}, namespaced | status, ""},
		{"resourceclaimtemplates", &resourcev1.ResourceClaimTemplate{}, namespaced, ""},
		{"resourceslices", &resourcev1.ResourceSlice{}, 0, ""},
	}},
	{schedulingv1.SchemeGroupVersion, []builtinType{
		{"priorityclasses", &schedulingv1.PriorityClass{}, 0, "pc"},
	}},
	{schedulingv1beta1.SchemeGroupVersion, []builtinType{
		{"podgroups", &schedulingv1beta1.PodGroup{}, namespaced | status, ""},
		{"workloads", &schedulingv1beta1.Workload{}, namespaced, ""},
	}},
	{storagev1.SchemeGroupVersion, []builtinType{
		{"csidrivers", &storagev1.CSIDriver{}, 0, ""},
		{"csinodes", &storagev1.CSINode{}, 0, ""},
		{"csistoragecapacities", &storagev1.CSIStorageCapacity{}, namespaced, ""},
		{"storageclasses", &storagev1.StorageClass{}, 0, "sc"},
		{"volumeattachments", &storagev1.VolumeAttachment{}, status, ""},
		{"volumeattributesclasses", &storagev1.VolumeAttributesClass{}, 0, "vac"},
	}},
	{storagemigrationv1.SchemeGroupVersion, []builtinType{
		{"storageversionmigrations", &storagemigrationv1.StorageVersionMigration{}, status, ""},
	}},
}

// builtinResources returns the resources of the table, and the resources that accept only a POST.
func builtinResources() []*resource {
	var all []*resource
	for _, group := range builtins {
		for _, row := range group.rows {
			all = append(all, row.resource(group.version))
		}
	}
	shareEvents(all)
	return append(all, postOnlyResources()...)
}

func (b builtinType) resource(gv schema.GroupVersion) *resource {
	goType := reflect.TypeOf(b.object).Elem()
	kind := goType.Name()
	res := &resource{
		Resource: Resource{
			Group: gv.Group, Version: gv.Version, Plural: b.plural, Kind: kind, Singular: strings.ToLower(kind),
			ClusterScoped: b.flags&namespaced == 0, Status: b.flags&status != 0,
		},
		gvk:     gv.WithKind(kind),
		flags:   b.flags,
		goType:  goType,
		data:    &collection{},
		removed: make(chan struct{}),
	}
	if b.shortNames != "" {
		res.ShortNames = strings.Split(b.shortNames, ",")
	}
	switch {
	case b.flags&inCategoryAll != 0:
		res.Categories = []string{"all"}
	case gv.Group == admissionregistrationv1.GroupName:
		res.Categories = []string{"api-extensions"}
	}
	if f, ok := builtinFields[goType]; ok {
		res.fieldNames, res.fieldValues = f.names, f.values
	}
	return res
}
