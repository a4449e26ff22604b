package apitest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

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
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// typeColumns are the columns of a built-in type. The function parseHeadings documents the notation
// of headings.
type typeColumns struct {
	headings string
	cells    func(Object) []any
}

// printers has the columns of the built-in types for which the real server has its own columns. For
// all other types, the columns are the name and the age.
type printers map[reflect.Type]typeColumns

var builtinColumns = func() printers {
	p := printers{}
	addCoreColumns(p)
	addWorkloadColumns(p)
	addPolicyColumns(p)
	addStorageColumns(p)
	return p
}()

// addColumns adds the columns of a type to p.
func addColumns[T any](p printers, headings string, cells func(*T) []any) {
	p[reflect.TypeFor[T]()] = typeColumns{headings, func(obj Object) []any { return cells(any(obj).(*T)) }}
}

func addCoreColumns(p printers) {
	addColumns(p, "Name|Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates", podCells)
	addColumns(p, "Name|Containers|Images|Pod Labels", func(t *corev1.PodTemplate) []any {
		names, images := containerCells(t.Template.Spec)
		return []any{t.Name, names, images, labelText(t.Template.Labels)}
	})
	addColumns(p, "Name|Type|Cluster-IP|External-IP|Port(s)|Age|+Selector", serviceCells)
	//lint:ignore SA1019 Deprecated or not, a server has it.
	addColumns(p, "Name|Endpoints|Age", func(e *corev1.Endpoints) []any { return []any{e.Name, endpointText(e), age(e.CreationTimestamp)} })
	addColumns(p, "Name|Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|+Container-Runtime", nodeCells)
	const events = "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+!Name"
	addColumns(p, events, eventCells)
	addColumns(p, events, func(e *eventsv1.Event) []any {
		old := corev1.Event{
			ObjectMeta: e.ObjectMeta, InvolvedObject: e.Regarding, Reason: e.Reason, Message: e.Note, Type: e.Type,
			Source: e.DeprecatedSource, FirstTimestamp: e.DeprecatedFirstTimestamp, LastTimestamp: e.DeprecatedLastTimestamp,
			Count: e.DeprecatedCount, EventTime: e.EventTime, ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		}
		if e.Series != nil {
			old.Series = &corev1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
		}
		return eventCells(&old)
	})
	addColumns(p, "Name|Status|Age", func(n *corev1.Namespace) []any { return []any{n.Name, n.Status.Phase, age(n.CreationTimestamp)} })
	addColumns(p, "Name|Type|Data|Age", func(s *corev1.Secret) []any { return []any{s.Name, s.Type, len(s.Data), age(s.CreationTimestamp)} })
	addColumns(p, "Name|Age", func(s *corev1.ServiceAccount) []any { return []any{s.Name, age(s.CreationTimestamp)} })
	addColumns(p, "Name|Data|Age", func(c *corev1.ConfigMap) []any {
		return []any{c.Name, len(c.Data) + len(c.BinaryData), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|Request|Limit|Age", quotaCells)
	addColumns(p, "Name|Holder|Age", func(l *coordinationv1.Lease) []any {
		return []any{l.Name, deref(l.Spec.HolderIdentity, ""), age(l.CreationTimestamp)}
	})
	addColumns(p, "Name|LeaseName|BinaryVersion|EmulationVersion|Age", func(l *coordinationv1beta1.LeaseCandidate) []any {
		return []any{l.Name, l.Spec.LeaseName, l.Spec.BinaryVersion, l.Spec.EmulationVersion, age(l.CreationTimestamp)}
	})
	addColumns(p, "Name|AddressType|Ports|Endpoints|Age", func(s *discoveryv1.EndpointSlice) []any {
		ports, addresses := []string{}, []string{}
		for _, p := range s.Ports {
			switch {
			case p.Port != nil:
				ports = append(ports, decimal(*p.Port))
			default:
				ports = append(ports, deref(p.Name, "*"))
			}
		}
		for _, e := range s.Endpoints {
			addresses = append(addresses, e.Addresses...)
		}
		return []any{s.Name, s.AddressType, orUnset(joinFirst(ports, 3)), orUnset(joinFirst(addresses, 3)), age(s.CreationTimestamp)}
	})
	addColumns(p, "Name|Class|Hosts|Address|Ports|Age", ingressCells)
	addColumns(p, "Name|Controller|Parameters|Age", func(c *networkingv1.IngressClass) []any {
		name, parameters := c.Name, "<none>"
		if c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			name += " (default)"
		}
		if p := c.Spec.Parameters; p != nil {
			parameters = p.Kind
			if p.APIGroup != nil {
				parameters += "." + *p.APIGroup
			}
			parameters += "/" + p.Name
		}
		return []any{name, c.Spec.Controller, parameters, age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|ParentRef", func(a *networkingv1.IPAddress) []any {
		parent := "<none>"
		if ref := a.Spec.ParentRef; ref != nil {
			parent = ref.Resource
			if ref.Group != "" {
				parent = ref.Resource + "." + ref.Group
			}
			if ref.Namespace != "" {
				parent += "/" + ref.Namespace
			}
			parent += "/" + ref.Name
		}
		return []any{a.Name, parent}
	})
	addColumns(p, "Name|CIDRs|Age", func(c *networkingv1.ServiceCIDR) []any {
		return []any{c.Name, strings.Join(c.Spec.CIDRs, ","), age(c.CreationTimestamp)}
	})
}

func addWorkloadColumns(p printers) {
	addColumns(p, "Name|#Desired|#Current|#Ready|Age|+Containers|+Images|+Selector", func(r *corev1.ReplicationController) []any {
		var spec corev1.PodSpec
		if r.Spec.Template != nil {
			spec = r.Spec.Template.Spec
		}
		names, images := containerCells(spec)
		return []any{r.Name, deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, age(r.CreationTimestamp), names, images, labelText(r.Spec.Selector)}
	})
	addColumns(p, "Name|#Desired|#Current|#Ready|Age|+Containers|+Images|+Selector", func(r *appsv1.ReplicaSet) []any {
		names, images := containerCells(r.Spec.Template.Spec)
		return []any{r.Name, deref(r.Spec.Replicas, 1), r.Status.Replicas, r.Status.ReadyReplicas, age(r.CreationTimestamp), names, images, selectorText(r.Spec.Selector)}
	})
	addColumns(p, "Name|#Desired|#Current|#Ready|#Up-to-date|#Available|Node Selector|Age|+Containers|+Images|+Selector", func(d *appsv1.DaemonSet) []any {
		names, images := containerCells(d.Spec.Template.Spec)
		return []any{d.Name, d.Status.DesiredNumberScheduled, d.Status.CurrentNumberScheduled, d.Status.NumberReady, d.Status.UpdatedNumberScheduled,
			d.Status.NumberAvailable, labelText(d.Spec.Template.Spec.NodeSelector), age(d.CreationTimestamp), names, images, selectorText(d.Spec.Selector)}
	})
	addColumns(p, "Name|Ready|#Up-to-date|#Available|Age|+Containers|+Images|+Selector", func(d *appsv1.Deployment) []any {
		names, images := containerCells(d.Spec.Template.Spec)
		return []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, deref(d.Spec.Replicas, 1)), d.Status.UpdatedReplicas,
			d.Status.AvailableReplicas, age(d.CreationTimestamp), names, images, selectorText(d.Spec.Selector)}
	})
	addColumns(p, "Name|Ready|Age|+Containers|+Images", func(s *appsv1.StatefulSet) []any {
		names, images := containerCells(s.Spec.Template.Spec)
		return []any{s.Name, fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, deref(s.Spec.Replicas, 1)), age(s.CreationTimestamp), names, images}
	})
	addColumns(p, "Name|Controller|Revision|Age", func(r *appsv1.ControllerRevision) []any {
		controller := "<none>"
		if ref := metav1.GetControllerOfNoCopy(r); ref != nil {
			controller = strings.ToLower(ref.Kind)
			if group, _, ok := strings.Cut(ref.APIVersion, "/"); ok {
				controller += "." + group
			}
			controller += "/" + ref.Name
		}
		return []any{r.Name, controller, r.Revision, age(r.CreationTimestamp)}
	})
	addColumns(p, "Name|Status|Completions|Duration|Age|+Containers|+Images|+Selector", jobCells)
	addColumns(p, "Name|Schedule|Timezone|?Suspend|#Active|Last Schedule|Age|+Containers|+Images|+Selector", func(c *batchv1.CronJob) []any {
		names, images := containerCells(c.Spec.JobTemplate.Spec.Template.Spec)
		last := "<none>"
		if c.Status.LastScheduleTime != nil {
			last = age(*c.Status.LastScheduleTime)
		}
		suspend := "False"
		if deref(c.Spec.Suspend, false) {
			suspend = "True"
		}
		return []any{c.Name, c.Spec.Schedule, deref(c.Spec.TimeZone, "<none>"), suspend, len(c.Status.Active), last,
			age(c.CreationTimestamp), names, images, selectorText(c.Spec.JobTemplate.Spec.Selector)}
	})
	const scalers = "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age"
	addColumns(p, scalers, func(h *autoscalingv2.HorizontalPodAutoscaler) []any {
		return []any{h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targetText(h),
			replicaText(h.Spec.MinReplicas), h.Spec.MaxReplicas, h.Status.CurrentReplicas, age(h.CreationTimestamp)}
	})
	addColumns(p, scalers, func(h *autoscalingv1.HorizontalPodAutoscaler) []any {
		targets := "<none>"
		if h.Spec.TargetCPUUtilizationPercentage != nil {
			targets = fmt.Sprintf("cpu: %s/%d%%", percentText(h.Status.CurrentCPUUtilizationPercentage), *h.Spec.TargetCPUUtilizationPercentage)
		}
		return []any{h.Name, h.Spec.ScaleTargetRef.Kind + "/" + h.Spec.ScaleTargetRef.Name, targets,
			replicaText(h.Spec.MinReplicas), h.Spec.MaxReplicas, h.Status.CurrentReplicas, age(h.CreationTimestamp)}
	})
}

func addPolicyColumns(p printers) {
	addColumns(p, "Name|Min Available|Max Unavailable|#Allowed Disruptions|Age", func(b *policyv1.PodDisruptionBudget) []any {
		least, most := "N/A", "N/A"
		if b.Spec.MinAvailable != nil {
			least = b.Spec.MinAvailable.String()
		}
		if b.Spec.MaxUnavailable != nil {
			most = b.Spec.MaxUnavailable.String()
		}
		return []any{b.Name, least, most, b.Status.DisruptionsAllowed, age(b.CreationTimestamp)}
	})
	addColumns(p, "Name|Pod-Selector|Age", func(p *networkingv1.NetworkPolicy) []any {
		return []any{p.Name, selectorText(&p.Spec.PodSelector), age(p.CreationTimestamp)}
	})
	addColumns(p, "Name|Role|Age|+Users|+Groups|+ServiceAccounts", func(b *rbacv1.RoleBinding) []any {
		return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, age(b.CreationTimestamp)}, subjectCells(b.Subjects)...)
	})
	addColumns(p, "Name|Role|Age|+Users|+Groups|+ServiceAccounts", func(b *rbacv1.ClusterRoleBinding) []any {
		return append([]any{b.Name, b.RoleRef.Kind + "/" + b.RoleRef.Name, age(b.CreationTimestamp)}, subjectCells(b.Subjects)...)
	})
	addColumns(p, "Name|Age|SignerName|Requestor|RequestedDuration|Condition", func(c *certificatesv1.CertificateSigningRequest) []any {
		requested, state := "<none>", "Pending"
		if c.Spec.ExpirationSeconds != nil {
			requested = duration.HumanDuration(time.Duration(*c.Spec.ExpirationSeconds) * time.Second)
		}
		has := func(kind certificatesv1.RequestConditionType) bool {
			return slices.ContainsFunc(c.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool { return c.Type == kind })
		}
		switch {
		case has(certificatesv1.CertificateDenied):
			state = "Denied"
		case has(certificatesv1.CertificateApproved):
			state = "Approved"
		}
		if has(certificatesv1.CertificateFailed) {
			state += ",Failed"
		}
		if len(c.Status.Certificate) > 0 {
			state += ",Issued"
		}
		return []any{c.Name, age(c.CreationTimestamp), orNone(c.Spec.SignerName), c.Spec.Username, requested, state}
	})
	addColumns(p, "Name|#Webhooks|Age", func(c *admissionregistrationv1.MutatingWebhookConfiguration) []any {
		return []any{c.Name, len(c.Webhooks), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|#Webhooks|Age", func(c *admissionregistrationv1.ValidatingWebhookConfiguration) []any {
		return []any{c.Name, len(c.Webhooks), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|#Validations|ParamKind|Age", func(p *admissionregistrationv1.ValidatingAdmissionPolicy) []any {
		kind := "<unset>"
		if p.Spec.ParamKind != nil {
			kind = p.Spec.ParamKind.APIVersion + "/" + p.Spec.ParamKind.Kind
		}
		return []any{p.Name, len(p.Spec.Validations), kind, age(p.CreationTimestamp)}
	})
	addColumns(p, "Name|#Value|?Global-Default|Age|PreemptionPolicy", func(c *schedulingv1.PriorityClass) []any {
		return []any{c.Name, c.Value, c.GlobalDefault, age(c.CreationTimestamp), string(deref(c.PreemptionPolicy, "PreemptLowerPriority"))}
	})
	addColumns(p, "Name|Handler|Age", func(c *nodev1.RuntimeClass) []any { return []any{c.Name, c.Handler, age(c.CreationTimestamp)} })
	addColumns(p, "Name|Age", func(c *resourcev1.DeviceClass) []any { return []any{c.Name, age(c.CreationTimestamp)} })
	addColumns(p, "Name|Age", func(c *resourcev1.ResourceClaimTemplate) []any { return []any{c.Name, age(c.CreationTimestamp)} })
	addColumns(p, "Name|State|Age", func(c *resourcev1.ResourceClaim) []any {
		var states []string
		if c.DeletionTimestamp != nil {
			states = append(states, "deleted")
		}
		switch {
		case c.Status.Allocation != nil && len(c.Status.ReservedFor) > 0:
			states = append(states, "allocated", "reserved")
		case c.Status.Allocation != nil:
			states = append(states, "allocated")
		case c.DeletionTimestamp == nil:
			states = append(states, "pending")
		}
		return []any{c.Name, strings.Join(states, ","), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|Node|Driver|Pool|Age", func(s *resourcev1.ResourceSlice) []any {
		return []any{s.Name, deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, age(s.CreationTimestamp)}
	})
}

func addStorageColumns(p printers) {
	addColumns(p, "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|+VolumeMode", func(v *corev1.PersistentVolume) []any {
		claim, phase := "", string(v.Status.Phase)
		if ref := v.Spec.ClaimRef; ref != nil {
			claim = ref.Namespace + "/" + ref.Name
		}
		if v.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		size := v.Spec.Capacity[corev1.ResourceStorage]
		return []any{v.Name, size.String(), modeText(v.Spec.AccessModes), v.Spec.PersistentVolumeReclaimPolicy, phase, claim, v.Spec.StorageClassName,
			deref(v.Spec.VolumeAttributesClassName, "<unset>"), v.Status.Reason, age(v.CreationTimestamp), deref(v.Spec.VolumeMode, "<unset>")}
	})
	addColumns(p, "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|+VolumeMode", func(c *corev1.PersistentVolumeClaim) []any {
		phase, size, modes := string(c.Status.Phase), "", ""
		if c.DeletionTimestamp != nil {
			phase = "Terminating"
		}
		if c.Spec.VolumeName != "" {
			capacity := c.Status.Capacity[corev1.ResourceStorage]
			size, modes = capacity.String(), modeText(c.Status.AccessModes)
		}
		return []any{c.Name, phase, c.Spec.VolumeName, size, modes, deref(c.Spec.StorageClassName, ""),
			deref(c.Spec.VolumeAttributesClassName, "<unset>"), age(c.CreationTimestamp), deref(c.Spec.VolumeMode, "<unset>")}
	})
	addColumns(p, "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age", func(c *storagev1.StorageClass) []any {
		name := c.Name
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
			name += " (default)"
		}
		return []any{name, c.Provisioner, deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate), deref(c.AllowVolumeExpansion, false), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|DriverName|Age", func(c *storagev1.VolumeAttributesClass) []any {
		return []any{c.Name, c.DriverName, age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|Attacher|PV|Node|?Attached|Age", func(a *storagev1.VolumeAttachment) []any {
		return []any{a.Name, a.Spec.Attacher, deref(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached, age(a.CreationTimestamp)}
	})
	addColumns(p, "Name|#Drivers|Age", func(n *storagev1.CSINode) []any { return []any{n.Name, len(n.Spec.Drivers), age(n.CreationTimestamp)} })
	addColumns(p, "Name|StorageClassName|Capacity", func(c *storagev1.CSIStorageCapacity) []any {
		size := "<unset>"
		if c.Capacity != nil {
			size = c.Capacity.String()
		}
		return []any{c.Name, c.StorageClassName, size}
	})
	addColumns(p, "Name|?AttachRequired|?PodInfoOnMount|?StorageCapacity|TokenRequests|?RequiresRepublish|Modes|Age", func(d *storagev1.CSIDriver) []any {
		tokens, modes := "<unset>", []string{}
		if d.Spec.TokenRequests != nil {
			var audiences []string
			for _, r := range d.Spec.TokenRequests {
				audiences = append(audiences, r.Audience)
			}
			tokens = strings.Join(audiences, ",")
		}
		for _, m := range d.Spec.VolumeLifecycleModes {
			modes = append(modes, string(m))
		}
		return []any{d.Name, deref(d.Spec.AttachRequired, true), deref(d.Spec.PodInfoOnMount, false), deref(d.Spec.StorageCapacity, false),
			tokens, deref(d.Spec.RequiresRepublish, false), orNone(strings.Join(modes, ",")), age(d.CreationTimestamp)}
	})
}

// deref returns *p, or the argument otherwise if p is nil.
func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
