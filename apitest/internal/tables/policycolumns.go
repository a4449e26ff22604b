package tables

import (
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

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
		return []any{c.Name, c.Value, c.GlobalDefault, age(c.CreationTimestamp), string(apiobject.Deref(c.PreemptionPolicy, "PreemptLowerPriority"))}
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
		return []any{s.Name, apiobject.Deref(s.Spec.NodeName, ""), s.Spec.Driver, s.Spec.Pool.Name, age(s.CreationTimestamp)}
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
			apiobject.Deref(v.Spec.VolumeAttributesClassName, "<unset>"), v.Status.Reason, age(v.CreationTimestamp), apiobject.Deref(v.Spec.VolumeMode, "<unset>")}
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
		return []any{c.Name, phase, c.Spec.VolumeName, size, modes, apiobject.Deref(c.Spec.StorageClassName, ""),
			apiobject.Deref(c.Spec.VolumeAttributesClassName, "<unset>"), age(c.CreationTimestamp), apiobject.Deref(c.Spec.VolumeMode, "<unset>")}
	})
	addColumns(p, "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age", func(c *storagev1.StorageClass) []any {
		name := c.Name
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true" {
			name += " (default)"
		}
		return []any{name, c.Provisioner, apiobject.Deref(c.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			apiobject.Deref(c.VolumeBindingMode, storagev1.VolumeBindingImmediate), apiobject.Deref(c.AllowVolumeExpansion, false), age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|DriverName|Age", func(c *storagev1.VolumeAttributesClass) []any {
		return []any{c.Name, c.DriverName, age(c.CreationTimestamp)}
	})
	addColumns(p, "Name|Attacher|PV|Node|?Attached|Age", func(a *storagev1.VolumeAttachment) []any {
		return []any{a.Name, a.Spec.Attacher, apiobject.Deref(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached, age(a.CreationTimestamp)}
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
		return []any{d.Name, apiobject.Deref(d.Spec.AttachRequired, true), apiobject.Deref(d.Spec.PodInfoOnMount, false), apiobject.Deref(d.Spec.StorageCapacity, false),
			tokens, apiobject.Deref(d.Spec.RequiresRepublish, false), orNone(strings.Join(modes, ",")), age(d.CreationTimestamp)}
	})
}
