package apitest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// typeFields are the fields by which objects of a built-in type can be selected.
type typeFields struct {
	names  []string
	values func(Object) []string
}

// builtinFields has the types that can be selected by more than name and
// namespace, as documented in the field selector page of Kubernetes.
var builtinFields = map[reflect.Type]typeFields{
	reflect.TypeFor[corev1.Pod](): {
		[]string{"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
			"spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"},
		func(obj Object) []string {
			pod := obj.(*corev1.Pod)
			return []string{pod.Spec.NodeName, string(pod.Spec.RestartPolicy), pod.Spec.SchedulerName, pod.Spec.ServiceAccountName,
				strconv.FormatBool(pod.Spec.HostNetwork), string(pod.Status.Phase), pod.Status.PodIP, pod.Status.NominatedNodeName}
		},
	},
	reflect.TypeFor[corev1.Node](): {
		[]string{"spec.unschedulable"},
		func(obj Object) []string { return []string{strconv.FormatBool(obj.(*corev1.Node).Spec.Unschedulable)} },
	},
	reflect.TypeFor[corev1.Namespace](): {
		[]string{"status.phase"},
		func(obj Object) []string { return []string{string(obj.(*corev1.Namespace).Status.Phase)} },
	},
	reflect.TypeFor[corev1.Secret](): {
		[]string{"type"},
		func(obj Object) []string { return []string{string(obj.(*corev1.Secret).Type)} },
	},
	reflect.TypeFor[corev1.Service](): {
		[]string{"spec.clusterIP", "spec.type"},
		func(obj Object) []string {
			spec := obj.(*corev1.Service).Spec
			return []string{spec.ClusterIP, string(spec.Type)}
		},
	},
	reflect.TypeFor[corev1.ReplicationController](): {
		[]string{"status.replicas"},
		func(obj Object) []string {
			return []string{decimal(obj.(*corev1.ReplicationController).Status.Replicas)}
		},
	},
	reflect.TypeFor[appsv1.ReplicaSet](): {
		[]string{"status.replicas"},
		func(obj Object) []string { return []string{decimal(obj.(*appsv1.ReplicaSet).Status.Replicas)} },
	},
	reflect.TypeFor[batchv1.Job](): {
		[]string{"status.successful"},
		func(obj Object) []string { return []string{decimal(obj.(*batchv1.Job).Status.Succeeded)} },
	},
	reflect.TypeFor[certificatesv1.CertificateSigningRequest](): {
		[]string{"spec.signerName"},
		func(obj Object) []string {
			return []string{obj.(*certificatesv1.CertificateSigningRequest).Spec.SignerName}
		},
	},
	reflect.TypeFor[corev1.Event](): {
		[]string{"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"reason", "reportingComponent", "source", "type"},
		func(obj Object) []string {
			ev := obj.(*corev1.Event)
			return append(reference(ev.InvolvedObject), ev.Reason, ev.ReportingController, ev.Source.Component, ev.Type)
		},
	},
	reflect.TypeFor[eventsv1.Event](): {
		[]string{"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid",
			"regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath",
			"reason", "reportingController", "type"},
		func(obj Object) []string {
			ev := obj.(*eventsv1.Event)
			return append(reference(ev.Regarding), ev.Reason, ev.ReportingController, ev.Type)
		},
	},
}

func reference(ref corev1.ObjectReference) []string {
	return []string{ref.Kind, ref.Namespace, ref.Name, string(ref.UID), ref.APIVersion, ref.ResourceVersion, ref.FieldPath}
}

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// pathValues reads the fields at dotted paths from a custom resource. What is
// missing is "".
func pathValues(obj Object, paths []string) []string {
	values := make([]string, len(paths))
	for i, path := range paths {
		content := obj.(*unstructured.Unstructured).Object
		if v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...); found && err == nil {
			values[i] = fmt.Sprint(v)
		}
	}
	return values
}
