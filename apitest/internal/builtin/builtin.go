package builtin

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

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// typeRow is an entry of the table of built-in types.
type typeRow struct {
	plural     string
	object     apiobject.Object
	flags      storage.Flags
	shortNames string // short names, separated by commas
}

// builtins is the table of built-in types: every stored type of the stable versions in k8s.io/api,
// and the beta types without a stable version. Groups are in the order of discovery. Within a
// group, the first version is the preferred version.
var builtins = []struct {
	version schema.GroupVersion
	rows    []typeRow
}{
	{corev1.SchemeGroupVersion, []typeRow{
		{"configmaps", &corev1.ConfigMap{}, storage.Namespaced, "cm"},
		//lint:ignore SA1019 Deprecated or not, a server has it.
		{"endpoints", &corev1.Endpoints{}, storage.Namespaced | storage.CreateOnUpdate, "ep"},
		{"events", &corev1.Event{}, storage.Namespaced | storage.CreateOnUpdate, "ev"},
		{"limitranges", &corev1.LimitRange{}, storage.Namespaced | storage.CreateOnUpdate, "limits"},
		{"namespaces", &corev1.Namespace{}, storage.Status | storage.NamespaceSubresources, "ns"},
		{"nodes", &corev1.Node{}, storage.Status, "no"},
		{"persistentvolumeclaims", &corev1.PersistentVolumeClaim{}, storage.Namespaced | storage.Status, "pvc"},
		{"persistentvolumes", &corev1.PersistentVolume{}, storage.Status, "pv"},
		{"pods", &corev1.Pod{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.PodSubresources, "po"},
		{"podtemplates", &corev1.PodTemplate{}, storage.Namespaced, ""},
		{"replicationcontrollers", &corev1.ReplicationController{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.Scalable, "rc"},
		{"resourcequotas", &corev1.ResourceQuota{}, storage.Namespaced | storage.Status, "quota"},
		{"secrets", &corev1.Secret{}, storage.Namespaced, ""},
		{"serviceaccounts", &corev1.ServiceAccount{}, storage.Namespaced | storage.ServiceAccountSubresources, "sa"},
		{"services", &corev1.Service{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.CreateOnUpdate, "svc"},
	}},
	{admissionregistrationv1.SchemeGroupVersion, []typeRow{
		{"mutatingadmissionpolicies", &admissionregistrationv1.MutatingAdmissionPolicy{}, 0, ""},
		{"mutatingadmissionpolicybindings", &admissionregistrationv1.MutatingAdmissionPolicyBinding{}, 0, ""},
		{"mutatingwebhookconfigurations", &admissionregistrationv1.MutatingWebhookConfiguration{}, 0, ""},
		{"validatingadmissionpolicies", &admissionregistrationv1.ValidatingAdmissionPolicy{}, storage.Status, ""},
		{"validatingadmissionpolicybindings", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}, 0, ""},
		{"validatingwebhookconfigurations", &admissionregistrationv1.ValidatingWebhookConfiguration{}, 0, ""},
	}},
	{appsv1.SchemeGroupVersion, []typeRow{
		{"controllerrevisions", &appsv1.ControllerRevision{}, storage.Namespaced, ""},
		{"daemonsets", &appsv1.DaemonSet{}, storage.Namespaced | storage.Status | storage.InCategoryAll, "ds"},
		{"deployments", &appsv1.Deployment{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.Scalable, "deploy"},
		{"replicasets", &appsv1.ReplicaSet{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.Scalable, "rs"},
		{"statefulsets", &appsv1.StatefulSet{}, storage.Namespaced | storage.Status | storage.InCategoryAll | storage.Scalable, "sts"},
	}},
	{autoscalingv2.SchemeGroupVersion, []typeRow{
		{"horizontalpodautoscalers", &autoscalingv2.HorizontalPodAutoscaler{}, storage.Namespaced | storage.Status | storage.InCategoryAll, "hpa"},
	}},
	{autoscalingv1.SchemeGroupVersion, []typeRow{
		{"horizontalpodautoscalers", &autoscalingv1.HorizontalPodAutoscaler{}, storage.Namespaced | storage.Status | storage.InCategoryAll, "hpa"},
	}},
	{batchv1.SchemeGroupVersion, []typeRow{
		{"cronjobs", &batchv1.CronJob{}, storage.Namespaced | storage.Status | storage.InCategoryAll, "cj"},
		{"jobs", &batchv1.Job{}, storage.Namespaced | storage.Status | storage.InCategoryAll, ""},
	}},
	{certificatesv1.SchemeGroupVersion, []typeRow{
		{"certificatesigningrequests", &certificatesv1.CertificateSigningRequest{}, storage.Status, "csr"},
		{"clustertrustbundles", &certificatesv1.ClusterTrustBundle{}, 0, ""},
		{"podcertificaterequests", &certificatesv1.PodCertificateRequest{}, storage.Namespaced | storage.Status, ""},
	}},
	{coordinationv1.SchemeGroupVersion, []typeRow{
		{"leases", &coordinationv1.Lease{}, storage.Namespaced | storage.CreateOnUpdate, ""},
	}},
	{coordinationv1beta1.SchemeGroupVersion, []typeRow{
		{"leasecandidates", &coordinationv1beta1.LeaseCandidate{}, storage.Namespaced | storage.CreateOnUpdate, ""},
	}},
	{discoveryv1.SchemeGroupVersion, []typeRow{
		{"endpointslices", &discoveryv1.EndpointSlice{}, storage.Namespaced, ""},
	}},
	{eventsv1.SchemeGroupVersion, []typeRow{
		{"events", &eventsv1.Event{}, storage.Namespaced | storage.CreateOnUpdate, "ev"},
	}},
	{flowcontrolv1.SchemeGroupVersion, []typeRow{
		{"flowschemas", &flowcontrolv1.FlowSchema{}, storage.Status, ""},
		{"prioritylevelconfigurations", &flowcontrolv1.PriorityLevelConfiguration{}, storage.Status, ""},
	}},
	{networkingv1.SchemeGroupVersion, []typeRow{
		{"ingressclasses", &networkingv1.IngressClass{}, 0, ""},
		{"ingresses", &networkingv1.Ingress{}, storage.Namespaced | storage.Status, "ing"},
		{"ipaddresses", &networkingv1.IPAddress{}, 0, "ip"},
		{"networkpolicies", &networkingv1.NetworkPolicy{}, storage.Namespaced, "netpol"},
		{"servicecidrs", &networkingv1.ServiceCIDR{}, storage.Status, ""},
	}},
	{nodev1.SchemeGroupVersion, []typeRow{
		{"runtimeclasses", &nodev1.RuntimeClass{}, storage.CreateOnUpdate, ""},
	}},
	{policyv1.SchemeGroupVersion, []typeRow{
		{"poddisruptionbudgets", &policyv1.PodDisruptionBudget{}, storage.Namespaced | storage.Status, "pdb"},
	}},
	{rbacv1.SchemeGroupVersion, []typeRow{
		{"clusterrolebindings", &rbacv1.ClusterRoleBinding{}, storage.CreateOnUpdate, ""},
		{"clusterroles", &rbacv1.ClusterRole{}, storage.CreateOnUpdate, ""},
		{"rolebindings", &rbacv1.RoleBinding{}, storage.Namespaced | storage.CreateOnUpdate, ""},
		{"roles", &rbacv1.Role{}, storage.Namespaced | storage.CreateOnUpdate, ""},
	}},
	{resourcev1.SchemeGroupVersion, []typeRow{
		{"deviceclasses", &resourcev1.DeviceClass{}, 0, ""},
		{"devicetaintrules", &resourcev1.DeviceTaintRule{}, storage.Status, ""},
		{"resourceclaims", &resourcev1.ResourceClaim{}, storage.Namespaced | storage.Status, ""},
		{"resourceclaimtemplates", &resourcev1.ResourceClaimTemplate{}, storage.Namespaced, ""},
		{"resourceslices", &resourcev1.ResourceSlice{}, 0, ""},
	}},
	{schedulingv1.SchemeGroupVersion, []typeRow{
		{"priorityclasses", &schedulingv1.PriorityClass{}, 0, "pc"},
	}},
	{schedulingv1beta1.SchemeGroupVersion, []typeRow{
		{"podgroups", &schedulingv1beta1.PodGroup{}, storage.Namespaced | storage.Status, ""},
		{"workloads", &schedulingv1beta1.Workload{}, storage.Namespaced, ""},
	}},
	{storagev1.SchemeGroupVersion, []typeRow{
		{"csidrivers", &storagev1.CSIDriver{}, 0, ""},
		{"csinodes", &storagev1.CSINode{}, 0, ""},
		{"csistoragecapacities", &storagev1.CSIStorageCapacity{}, storage.Namespaced, ""},
		{"storageclasses", &storagev1.StorageClass{}, 0, "sc"},
		{"volumeattachments", &storagev1.VolumeAttachment{}, storage.Status, ""},
		{"volumeattributesclasses", &storagev1.VolumeAttributesClass{}, 0, "vac"},
	}},
	{storagemigrationv1.SchemeGroupVersion, []typeRow{
		{"storageversionmigrations", &storagemigrationv1.StorageVersionMigration{}, storage.Status, ""},
	}},
}

// Resources returns new resources, one for each row of the table.
func Resources() []*storage.Resource {
	var all []*storage.Resource
	for _, group := range builtins {
		for _, row := range group.rows {
			all = append(all, row.resource(group.version))
		}
	}
	shareEvents(all)
	return all
}

// NewResource returns the resource of a built-in type that is not in the table.
func NewResource(plural string, gv schema.GroupVersion, object apiobject.Object, flags storage.Flags) *storage.Resource {
	return typeRow{plural, object, flags, ""}.resource(gv)
}

func (b typeRow) resource(gv schema.GroupVersion) *storage.Resource {
	goType := reflect.TypeOf(b.object).Elem()
	kind := goType.Name()
	res := &storage.Resource{
		Description: storage.Description{
			Group: gv.Group, Version: gv.Version, Plural: b.plural, Kind: kind, Singular: strings.ToLower(kind),
			ClusterScoped: b.flags&storage.Namespaced == 0, Status: b.flags&storage.Status != 0,
		},
		GVK:     gv.WithKind(kind),
		Flags:   b.flags,
		GoType:  goType,
		Data:    &storage.Collection{},
		Removed: make(chan struct{}),
	}
	if b.shortNames != "" {
		res.ShortNames = strings.Split(b.shortNames, ",")
	}
	switch {
	case b.flags&storage.InCategoryAll != 0:
		res.Categories = []string{"all"}
	case gv.Group == admissionregistrationv1.GroupName:
		res.Categories = []string{"api-extensions"}
	}
	if f, ok := selectableFields[goType]; ok {
		res.FieldNames, res.FieldValues, res.UnsupportedField = f.names, f.values, f.unsupportedText
	}
	return res
}

// shareEvents gives both resources of events the same objects.
func shareEvents(all []*storage.Resource) {
	var shared *storage.Collection
	for _, res := range all {
		if res.GoType != reflect.TypeFor[corev1.Event]() && res.GoType != reflect.TypeFor[eventsv1.Event]() {
			continue
		}
		if shared == nil {
			shared = res.Data
		}
		res.Data = shared
	}
}
