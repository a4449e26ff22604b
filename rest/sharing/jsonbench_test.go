package sharing_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/sharing"
)

// jsonPods returns the encodings of n pods in JSON, as a server sends them.
func jsonPods(tb testing.TB, n int) [][]byte {
	return podsAs(tb, n, func(pod *corev1.Pod) ([]byte, error) { return json.Marshal(pod) })
}

// BenchmarkPodsInJSON is BenchmarkPods for JSON.
func BenchmarkPodsInJSON(b *testing.B) {
	encoded := jsonPods(b, benchPods)
	for _, d := range []struct {
		name string
		make func() func([]byte, any) error
	}{
		{"Apimachinery", func() func([]byte, any) error { return kjson.UnmarshalCaseSensitivePreserveInts }},
		{"Alone", func() func([]byte, any) error { return sharing.New(sharing.Options{MaxBytes: -1}).DecodeJSON }},
		{"Shared", func() func([]byte, any) error { return sharing.New(sharing.Options{}).DecodeJSON }},
	} {
		b.Run(d.name, func(b *testing.B) { benchPodsOf[corev1.Pod](b, encoded, d.make) })
		b.Run(d.name+"/Unstructured", func(b *testing.B) { benchPodsOf[map[string]any](b, encoded, d.make) })
	}
}
