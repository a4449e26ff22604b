package rest

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// claim returns an encoded volume claim with the argument text as its quantity, and the argument
// label as a label. If padded is set, the length of the quantity in protobuf has more bytes than
// necessary.
func claim(t testing.TB, e Encoding, text, label string, padded bool) []byte {
	t.Helper()
	if e == JSON {
		quoted, err := json.Marshal(label)
		require.NoError(t, err)
		return []byte(`{"metadata":{"name":"a","labels":{"l":` + string(quoted) + `}},"spec":{"resources":{"requests":{"storage":"` + text + `"}}}}`)
	}
	field := func(number byte, contents []byte) []byte {
		out := []byte{number<<3 | 2}
		for n := len(contents); ; n >>= 7 {
			if n < 128 && !padded {
				return append(append(out, byte(n)), contents...)
			}
			if n == 0 {
				return append(append(out, 0), contents...)
			}
			out = append(out, byte(n&127|128))
		}
	}
	meta, err := (&metav1.ObjectMeta{Name: "a", Labels: map[string]string{"l": label}}).Marshal()
	require.NoError(t, err)
	entry := append(field(1, []byte("storage")), field(2, field(1, []byte(text)))...)
	spec := field(2, field(2, entry))
	return append(field(1, meta), field(2, spec)...)
}

func decodeClaim(e Encoding, data []byte) (*corev1.PersistentVolumeClaim, error) {
	r := Must(NewResource[*corev1.PersistentVolumeClaim](&Client{}, podsGVR, ResourceOptions{}))
	object, err := r.items.Single.Decode(wire.Encoding(e), data, &wire.Envelope{})
	if err != nil {
		return nil, err
	}
	return object.(*corev1.PersistentVolumeClaim), nil
}

// extreme has texts that apimachinery would parse for hours, and their values.
var extreme = map[string]string{
	"1e-1000000000": "1n", "1E-1000000000": "1n", "-1e-1000000000": "-1n", "+1e-1000000000": "1n", ".1e-1000000000": "1n", "1.e-1000000000": "1n",
	"0e-1000000000": "0", "1e1000000000": "1e2000", "1e+1000000000": "1e2000", "1.5e-2147483647": "1n", "1e-" + strings.Repeat("0", 200) + "1000000000": "1n",
	strings.Repeat("9", 300) + "." + strings.Repeat("9", 300) + "E1000000000": "1e2000", strings.Repeat("1", 100_000): "1e2000",
	"0." + strings.Repeat("3", 100_000) + "Ki": "341.333333334",
}

func TestExtremeQuantitiesAreDecodedAtOnce(t *testing.T) { // G11
	t.Parallel()
	for text, want := range extreme {
		for _, e := range encodings {
			for _, padded := range []bool{false, true} {
				object, err := decodeClaim(e, claim(t, e, text, text, padded))
				require.NoError(t, err, "%s %.40s", e, text)
				require.Equal(t, text, object.Labels["l"], "a label must keep its text, even if it looks like a quantity")
				storage := object.Spec.Resources.Requests["storage"]
				require.Zero(t, storage.Cmp(resource.MustParse(want)), "%s %.40s: %v", e, text, &storage)
			}
		}
	}
	// The length before a quantity may be any byte, including a digit. The same is true of the tag
	// of the next field.
	for digits := range 130 {
		for _, sign := range []string{"", "-", "+"} {
			text := sign + strings.Repeat("7", 1+digits) + "e-1000000000"
			for _, e := range encodings {
				data := claim(t, e, text, "", false)
				if e == Protobuf {
					data = append(data, "2\x00"...)
				}
				object, err := decodeClaim(e, data)
				require.NoError(t, err, text)
				storage := object.Spec.Resources.Requests["storage"]
				require.Equal(t, strings.TrimPrefix(sign+"1e-9", "+"), storage.String())
			}
		}
	}
}

// The search for extreme quantities ignores names, hashes and versions that look like one.
func TestNonQuantitiesAreNotSuspected(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"9c1e4321-3f1e-1234-8e12-1e5555555555", "sha256:12e4567890", "v1e-1000", "web-1e1000", "1e1000-web", "2026-01-01T00:00:00Z",
		"1e999", "12345678901234567890", "10.1.2.3",
	} {
		object := plainPod(1)
		object.Labels["l"] = text
		for _, e := range encodings {
			at, _ := quantity.FindExtreme(e == Protobuf, encode(t, e, "Pod", &object), 0)
			if strings.HasPrefix(text, "sha256:") && e == JSON {
				continue // in JSON, text after a colon may be a number
			}
			require.Negative(t, at, "%s %s", e, text)
		}
	}
}

// sized is decoded by a user's method that parses a text as a quantity.
type sized struct {
	metav1.ObjectMeta `json:"metadata"`
	Size              size `json:"size"`
}

type size struct{ value int64 }

func (s *size) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	q, err := resource.ParseQuantity(text)
	s.value = q.Value()
	return err
}

var sizedGVR = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "sized"}

// TestExtremeQuantityIsRefusedOnlyForUserMethods: if a user's method would parse an extreme text,
// the object is undecodable, and the error has its key. Types of Kubernetes and maps are never
// refused for this reason.
func TestExtremeQuantityIsRefusedOnlyForUserMethods(t *testing.T) { // G11
	t.Parallel()
	body := `{"kind":"SizedList","apiVersion":"example.org/v1","metadata":{"resourceVersion":"1"},"items":[` +
		`{"metadata":{"name":"bad"},"size":"1e-1000000000"},{"metadata":{"name":"good","labels":{"l":"1e-1000000000"}},"size":"5"}]}`
	stream, err := Must(NewJSONResource[*sized](serveBytes(t, JSON, []byte(body)), sizedGVR, ResourceOptions{})).List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Len(t, items, 1)
	require.EqualValues(t, 5, items[0].Object.Size.value)
	require.Len(t, skipped, 1)
	require.Equal(t, "bad", skipped[0].Key.Name)
	require.ErrorIs(t, skipped[0], quantity.ErrExtreme)

	maps := Must(NewJSONResource[*unstructured.Unstructured](&Client{}, podsGVR, ResourceOptions{}))
	object, err := maps.items.Single.Decode(wire.JSON, []byte(`{"kind":"A","n":1e-1000000000,"s":"1e-1000000000"}`), &wire.Envelope{})
	require.NoError(t, err)
	require.Equal(t, "1e-1000000000", object.(*unstructured.Unstructured).Object["s"])
}

// BenchmarkQuantities measures the search for extreme quantities, in comparison with decoding.
func BenchmarkQuantities(b *testing.B) {
	pod := plainPod(1)
	for _, e := range encodings {
		data := encode(b, e, "Pod", &pod)
		if e == Protobuf {
			var err error
			_, _, data, err = wire.Unwrap(data, false)
			require.NoError(b, err)
		}
		decoder := pods(&Client{}).items.Single
		b.Run(e.String()+"/look", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if at, _ := quantity.FindExtreme(e == Protobuf, data, 0); at >= 0 {
					b.Fatal(at)
				}
			}
		})
		b.Run(e.String()+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decoder.Decode(wire.Encoding(e), data, &wire.Envelope{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
