package builtin

import (
	"cmp"
	"reflect"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// typeFields are the fields that selectors can use for a built-in type.
type typeFields struct {
	names  []string
	values func(apiobject.Object) []string

	// unsupportedText is the real server's message for an unsupported field. It contains %s for the
	// field. Defaults to "field label not supported: %s".
	unsupportedText string
}

// selectableFields are the types for which selectors can use more fields than name and namespace.
// They support the same fields as the real server. The real server sets some fields to defaults
// when it stores an object. Here, a selector treats a missing field as if it had that default.
var selectableFields = map[reflect.Type]typeFields{
	reflect.TypeFor[corev1.Pod](): {
		names: []string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName",
			"spec.host",     // the old name of spec.nodeName
			"status.podIPs", // The real server never has a value for it either.
		},
		values: func(obj apiobject.Object) []string {
			pod := obj.(*corev1.Pod)
			return []string{pod.Spec.NodeName, string(cmp.Or(pod.Spec.RestartPolicy, corev1.RestartPolicyAlways)),
				cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName), pod.Spec.ServiceAccountName,
				strconv.FormatBool(pod.Spec.HostNetwork), string(pod.Status.Phase), pod.Status.PodIP, pod.Status.NominatedNodeName,
				pod.Spec.NodeName, ""}
		},
	},
	reflect.TypeFor[corev1.Node](): {
		names: []string{"spec.unschedulable"},
		values: func(obj apiobject.Object) []string {
			return []string{strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)}
		},
	},
	reflect.TypeFor[corev1.Namespace](): {
		names:  []string{"status.phase"},
		values: func(obj apiobject.Object) []string { return []string{string(obj.(*corev1.Namespace).Status.Phase)} },
	},
	reflect.TypeFor[corev1.Secret](): {
		names: []string{"type"},
		values: func(obj apiobject.Object) []string {
			return []string{string(cmp.Or(obj.(*corev1.Secret).Type, corev1.SecretTypeOpaque))}
		},
	},
	reflect.TypeFor[corev1.Service](): {
		names: []string{"spec.clusterIP", "spec.type"},
		values: func(obj apiobject.Object) []string {
			spec := obj.(*corev1.Service).Spec
			return []string{spec.ClusterIP, string(cmp.Or(spec.Type, corev1.ServiceTypeClusterIP))}
		},
	},
	reflect.TypeFor[corev1.ReplicationController](): {
		names: []string{"status.replicas"},
		values: func(obj apiobject.Object) []string {
			return []string{strconv.Itoa(int(obj.(*corev1.ReplicationController).Status.Replicas))}
		},
	},
	reflect.TypeFor[batchv1.Job](): {
		names: []string{"status.successful"},
		values: func(obj apiobject.Object) []string {
			return []string{strconv.Itoa(int(obj.(*batchv1.Job).Status.Succeeded))}
		},
		unsupportedText: `field label "%s" not supported for Job`,
	},
	reflect.TypeFor[resourcev1.ResourceSlice](): {
		names: []string{"spec.nodeName", "spec.driver"},
		values: func(obj apiobject.Object) []string {
			spec := obj.(*resourcev1.ResourceSlice).Spec
			return []string{apiobject.Deref(spec.NodeName, ""), spec.Driver}
		},
		unsupportedText: "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: %s",
	},
	reflect.TypeFor[certificatesv1.CertificateSigningRequest](): {
		names: []string{"spec.signerName"},
		values: func(obj apiobject.Object) []string {
			return []string{obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName}
		},
	},
	reflect.TypeFor[corev1.Event](): {
		names: []string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type"},
		values: func(obj apiobject.Object) []string {
			ev := obj.(*corev1.Event)
			return append(referenceFields(ev.InvolvedObject), ev.Reason, ev.ReportingController,
				cmp.Or(ev.Source.Component, ev.ReportingController), ev.Type)
		},
	},
	reflect.TypeFor[eventsv1.Event](): {
		names: []string{"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
			"regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath",
			"reason", "reportingController", "type"},
		values: func(obj apiobject.Object) []string {
			ev := obj.(*eventsv1.Event)
			return append(referenceFields(ev.Regarding), ev.Reason, ev.ReportingController, ev.Type)
		},
	},
}

func referenceFields(ref corev1.ObjectReference) []string {
	return []string{ref.Kind, ref.Namespace, ref.Name, string(ref.UID), ref.APIVersion, ref.ResourceVersion, ref.FieldPath}
}
