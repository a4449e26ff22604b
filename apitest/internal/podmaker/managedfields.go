package podmaker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func managedEntry(manager, subresource string, at metav1.Time, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: subresource,
	}
}

// kubeletFields are the fields that the kubelet manages in a running pod; %s is the pod's IP.
const kubeletFields = `{"f:status":{"f:conditions":{` +
	`"k:{\"type\":\"ContainersReady\"}":` + conditionFields + `,"k:{\"type\":\"Initialized\"}":` + conditionFields + `,` +
	`"k:{\"type\":\"PodReadyToStartContainers\"}":` + conditionFields + `,"k:{\"type\":\"Ready\"}":` + conditionFields + `},` +
	`"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:observedGeneration":{},"f:phase":{},"f:podIP":{},` +
	`"f:podIPs":{".":{},"k:{\"ip\":\"%s\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`

const conditionFields = `{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}}`

// fieldSetOf returns the managed fields of the controller that created a pod: all fields that the
// controller wrote.
func fieldSetOf(pod *corev1.Pod) string {
	var object map[string]any
	text, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"annotations": pod.Annotations, "generateName": pod.GenerateName, "labels": pod.Labels, "ownerReferences": pod.OwnerReferences,
		},
		"spec": pod.Spec,
	})
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	if err != nil {
		panic(err) // cannot fail: a pod can always be encoded
	}
	var b strings.Builder
	writeFieldSet(&b, "", object)
	return b.String()
}

// listKeys are the key fields of list elements. All other lists are managed as a whole.
var listKeys = map[string][]string{
	"containers": {"name"}, "env": {"name"}, "ownerReferences": {"uid"}, "ports": {"containerPort", "protocol"},
	"volumeMounts": {"mountPath"}, "volumes": {"name"},
}

// atomicFields are the objects that are managed as a whole.
var atomicFields = map[string]bool{"fieldRef": true, "secretKeyRef": true}

// writeFieldSet writes the set of the fields that a value has.
func writeFieldSet(b *strings.Builder, name string, value any) {
	members := map[string]any{} // by the names that managed fields use
	switch v := value.(type) {
	case map[string]any:
		if !atomicFields[name] {
			for member, value := range v {
				members["f:"+member] = value
			}
		}
	case []any:
		for _, element := range v {
			if keys := listKeys[name]; keys != nil {
				members[keyOfElement(keys, element.(map[string]any))] = element
			}
		}
	}
	separator := "{"
	switch name {
	case "", "metadata", "spec", "containers": // These fields themselves have no owner.
	default:
		if len(members) > 0 {
			b.WriteString(`{".":{}`)
			separator = ","
		}
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		fmt.Fprintf(b, "%s%q:", separator, member)
		separator = ","
		short, isField := strings.CutPrefix(member, "f:")
		switch {
		case !isField && name == "ownerReferences":
			b.WriteString("{}")
		case !isField:
			writeFieldSet(b, "element", members[member])
		default:
			writeFieldSet(b, short, members[member])
		}
	}
	if separator == "{" {
		b.WriteByte('{')
	}
	b.WriteByte('}')
}

// keyOfElement returns the name that managed fields use for a list element.
func keyOfElement(keys []string, element map[string]any) string {
	known := make(map[string]any, len(keys))
	for _, k := range keys {
		known[k] = element[k]
	}
	text, err := json.Marshal(known)
	if err != nil {
		panic(err) // cannot fail: the element came from JSON
	}
	return "k:" + string(text)
}
