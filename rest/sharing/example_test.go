package sharing_test

import (
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/rest/sharing"
)

// Two pods of one ReplicaSet have equal probes, so the decoder keeps one probe for both.
func Example() {
	probe := &corev1.Probe{PeriodSeconds: 10}
	shared := sharing.New(sharing.Options{})
	var pods [2]corev1.Pod
	for i := range pods {
		sent := corev1.Pod{Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%d", i), Containers: []corev1.Container{
			{Name: "web", Args: []string{fmt.Sprint(i)}, LivenessProbe: probe},
		}}}
		data, err := sent.Marshal()
		if err != nil {
			log.Fatal(err)
		}
		if err := shared.DecodeProtobuf(data, &pods[i], nil); err != nil {
			log.Fatal(err)
		}
	}
	a, b := pods[0].Spec, pods[1].Spec
	fmt.Println(a.NodeName, b.NodeName)
	fmt.Println("the same probe:", a.Containers[0].LivenessProbe == b.Containers[0].LivenessProbe)
	own := pods[0].DeepCopy().Spec
	fmt.Println("the same in a copy:", own.Containers[0].LivenessProbe == b.Containers[0].LivenessProbe)
	// Output:
	// node-0 node-1
	// the same probe: true
	// the same in a copy: false
}

// Custom resources come in JSON. If a value repeats under the same key, the decoder keeps it in
// memory once.
func ExampleDecoder_DecodeJSON() {
	shared := sharing.New(sharing.Options{})
	var widgets [3]map[string]any
	for i := range widgets {
		sent := fmt.Sprintf(`{"kind":"Widget","spec":{"size":%d,"colors":["red","green"]}}`, i)
		if err := shared.DecodeJSON([]byte(sent), &widgets[i]); err != nil {
			log.Fatal(err)
		}
	}
	a, b := widgets[1]["spec"].(map[string]any), widgets[2]["spec"].(map[string]any)
	fmt.Printf("%v %T\n", a["size"], a["size"])
	fmt.Println("the same colors:", &a["colors"].([]any)[0] == &b["colors"].([]any)[0])
	// Output:
	// 1 int64
	// the same colors: true
}
