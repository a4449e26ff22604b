package rest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/randfill"

	"github.com/kinform/kinform/rest/internal/wire"
)

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// randomPods returns pods with different names and random values in every field. Many goroutines
// may read them.
func randomPods(seed int64, n int) []corev1.Pod {
	fill := randfill.NewWithSeed(seed).NilChance(0.5).NumElements(0, 3).MaxDepth(12).Funcs(
		func(m *metav1.FieldsV1, c randfill.Continue) { m.SetRawString(`{"f:spec":{"f:a \"}] b":{}}}`) },
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(c.Rand.Int63n(1<<32), 0).Rfc3339Copy() },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.NewMicroTime(metav1.Unix(c.Rand.Int63n(1<<32), 0).Time)
		},
	)
	pods := make([]corev1.Pod, n)
	for i := range pods {
		fill.Fill(&pods[i])
		pods[i].TypeMeta = metav1.TypeMeta{}
		pods[i].Name = fmt.Sprintf("%s-%d", pods[i].Name, i)
		pods[i].ResourceVersion = fmt.Sprint(1000 + i)
		// Marshal makes each Quantity cache its text now. Otherwise parallel tests would write it
		// at the same time.
		_, _ = pods[i].Marshal()
	}
	return pods
}

// plainPod returns a typical pod of about 2 kB.
func plainPod(i int) corev1.Pod {
	r := rand.New(rand.NewPCG(1, uint64(i)))
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("web-%08x-%05d", r.Uint32(), i), GenerateName: "web-", Namespace: fmt.Sprintf("team-%d", i%20),
			UID: types.UID(fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())), ResourceVersion: fmt.Sprint(100000 + i),
			CreationTimestamp: metav1.Unix(1700000000, 0), Labels: map[string]string{"app": "web", "pod-template-hash": "5d9c7b"},
			Annotations:   map[string]string{"checksum/config": fmt.Sprintf("%032x", r.Uint64())},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: "Update", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{".":{},"f:image":{},"f:name":{}}}}}`)}},
		},
		Spec:   corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i%100), ServiceAccountName: "default", RestartPolicy: "Always"},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.1.2.3", HostIP: "192.168.0.1"},
	}
	for c := range 2 {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: fmt.Sprintf("c%d", c), Image: "registry.example/team/web:v1.2.3", Command: []string{"/bin/web", "--listen=:8080"},
			Env:   []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "two"}},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: "TCP"}},
		})
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprintf("c%d", c), Ready: true, Image: "registry.example/team/web:v1.2.3", ContainerID: "containerd://0123456789abcdef"})
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled, corev1.PodInitialized} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: "True", LastTransitionTime: metav1.Unix(1700000000, 0)})
	}
	return pod
}

func plainPods(n int) []corev1.Pod {
	pods := make([]corev1.Pod, n)
	for i := range pods {
		pods[i] = plainPod(i)
	}
	return pods
}

// podList returns a list of pods as a server sends it.
func podList(t testing.TB, e Encoding, rv string, pods ...corev1.Pod) []byte {
	t.Helper()
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: rv}, Items: pods}
	return encode(t, e, "PodList", list)
}

// encode encodes an object as a server does: with an envelope in protobuf, with kind and apiVersion
// in JSON.
func encode(t testing.TB, e Encoding, kind string, object any) []byte {
	t.Helper()
	typeMeta := runtime.TypeMeta{APIVersion: "v1", Kind: kind}
	if e == Protobuf {
		raw, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
		require.NoError(t, err)
		unknown := runtime.Unknown{TypeMeta: typeMeta, Raw: raw}
		data, err := unknown.Marshal()
		require.NoError(t, err)
		return append([]byte(wire.Magic), data...)
	}
	data, err := json.Marshal(object)
	require.NoError(t, err)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &fields))
	fields["kind"], fields["apiVersion"] = json.RawMessage(`"`+kind+`"`), json.RawMessage(`"v1"`)
	var out bytes.Buffer
	out.WriteString("{")
	for _, key := range []string{"kind", "apiVersion", "metadata", "status", "spec", "items", "message", "reason", "details", "code"} {
		if value, ok := fields[key]; ok {
			if out.Len() > 1 {
				out.WriteString(",")
			}
			fmt.Fprintf(&out, "%q:%s", key, value)
		}
	}
	out.WriteString("}\n")
	return out.Bytes()
}

// event returns a watch event as a server sends it.
func event(t testing.TB, e Encoding, name, kind string, object any) []byte {
	t.Helper()
	data := encode(t, e, kind, object)
	if e == JSON {
		return fmt.Appendf(nil, `{"type":%q,"object":%s}`+"\n", name, bytes.TrimSpace(data))
	}
	return frameOf(t, metav1.WatchEvent{Type: name, Object: runtime.RawExtension{Raw: data}})
}

// frameOf encodes an event with its length before it.
func frameOf(t testing.TB, e metav1.WatchEvent) []byte {
	t.Helper()
	data, err := e.Marshal()
	require.NoError(t, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

func contentType(e Encoding) string {
	if e == Protobuf {
		return mediaTypeProtobuf
	}
	return mediaTypeJSON
}
