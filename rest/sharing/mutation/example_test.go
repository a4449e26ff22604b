package mutation_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/sharing/mutation"
)

// A handler changes a cached object without DeepCopy. In a real test, New gets the testing.T, and
// the test fails at its end without a call of Check.
func Example() {
	detector := mutation.New(&fakeTest{})
	transform := mutation.Transform[*corev1.Pod](detector) // for informer.Options

	pod, _ := transform(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web-1", Labels: map[string]string{"app": "web"},
	}})
	pod.Labels["app"] = "changed"

	for _, m := range detector.Check() {
		fmt.Println(m)
	}
	// Output:
	// default/web-1 was changed after a read; copy an object before a change:
	//   Labels["app"]: "web" became "changed"
}
