package rest

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/listwatch"
)

// claim is an encoded volume claim with a text as its quantity, and another one as a
// label. Padded, the length of the quantity in protobuf is longer than it needs to be.
func claim(t testing.TB, e Encoding, quantity, label string, padded bool) []byte {
	t.Helper()
	if e == JSON {
		text, err := json.Marshal(label)
		require.NoError(t, err)
		return []byte(`{"metadata":{"name":"a","labels":{"l":` + string(text) + `}},"spec":{"resources":{"requests":{"storage":"` + quantity + `"}}}}`)
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
	entry := append(field(1, []byte("storage")), field(2, field(1, []byte(quantity)))...)
	spec := field(2, field(2, entry))
	return append(field(1, meta), field(2, spec)...)
}

func decodeClaim(e Encoding, data []byte) (*corev1.PersistentVolumeClaim, error) {
	r := NewResource[*corev1.PersistentVolumeClaim](&Client{}, podsGVR, ResourceOptions{})
	object, err := r.decoder.decode(e, data, &envelope{})
	if err != nil {
		return nil, err
	}
	return object.(*corev1.PersistentVolumeClaim), nil
}

// hopeless is what must not be parsed.
var hopeless = regexp.MustCompile(`^\s*[-+]?[0-9.]+[eE][-+]?[0-9]{4,}\s*$`)

func TestQuantityThatTakesHoursIsRefused(t *testing.T) { // G11
	t.Parallel()
	nines := strings.Repeat("9", 300)
	for _, text := range []string{
		"1e-1000000000", "1E-1000000000", "1e1000000000", "1e+1000000000", "-1e-1000000000", "+1e-1000000000", ".1e-1000000000",
		"1.e-1000000000", "1.5e-2147483647", "0e-1000000000", nines + "e1000000000", nines + "." + nines + "E-1000000000",
		"1e-" + strings.Repeat("0", 200) + "1000000000", strings.Repeat("1", 1_000_000), "0." + strings.Repeat("3", 1_000_000) + "Ki",
	} {
		for _, e := range encodings {
			for _, padded := range []bool{false, true} {
				_, err := decodeClaim(e, claim(t, e, text, "", padded))
				require.ErrorIs(t, err, errQuantity, "%s %.40s", e, text)

				object, err := decodeClaim(e, claim(t, e, "1Gi", text, padded))
				require.NoError(t, err, "a label may be anything")
				require.Equal(t, text, object.Labels["l"])
				require.True(t, resource.MustParse("1Gi").Equal(object.Spec.Resources.Requests["storage"]))
			}
		}
	}
	// The length in front of a quantity may be any byte, a digit as well.
	for digits := range 130 {
		for _, sign := range []string{"", "-", "+"} {
			text := sign + strings.Repeat("7", 1+digits) + "e-1000000000"
			for _, e := range encodings {
				_, err := decodeClaim(e, claim(t, e, text, "", false))
				require.ErrorIs(t, err, errQuantity, text)
			}
		}
	}
}

// No text that takes hours gets through, and no other is refused that could be decoded.
func TestOnlyQuantitiesThatTakeHoursAreRefused(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 20_000 {
		text := make([]byte, random.IntN(14))
		for i := range text {
			text[i] = "0000111199.eE-+ mKi"[random.IntN(19)]
		}
		for _, e := range encodings {
			if e == Protobuf && strings.Contains(string(text), " ") {
				continue // is trimmed in JSON only
			}
			_, err := decodeClaim(e, claim(t, e, string(text), string(text), random.IntN(2) == 0))
			if hopeless.Match(text) {
				require.ErrorIs(t, err, errQuantity, "%s %q", e, text)
				refused++
				continue
			}
			_, want := resource.ParseQuantity(strings.TrimSpace(string(text)))
			require.Equal(t, want == nil, err == nil, "%s %q: %v", e, text, err)
		}
	}
	require.Greater(t, refused, 20)
}

// A row of digits may begin before its text: with the last byte of a length, or within
// an escape.
func TestLongRowsOfDigitsAreNoQuantities(t *testing.T) {
	t.Parallel()
	for length := 500; length < 8000; length += 50 {
		for _, text := range []string{strings.Repeat("7", length), "\x01" + strings.Repeat("7", length), strings.Repeat("7", length) + "\x01"} {
			for _, e := range encodings {
				object, err := decodeClaim(e, claim(t, e, "1Gi", text, false))
				require.NoError(t, err, "%s %d", e, length)
				require.Equal(t, text, object.Labels["l"])
			}
		}
		for _, e := range encodings {
			if length > maxDigits {
				_, err := decodeClaim(e, claim(t, e, strings.Repeat("7", length), "", false))
				require.ErrorIs(t, err, errQuantity)
			}
		}
	}
}

// What looks like one in names, hashes and versions costs nothing.
func TestWhatIsNoQuantityIsNoSuspect(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"9c1e4321-3f1e-1234-8e12-1e5555555555", "sha256:12e4567890", "v1e-1000", "web-1e1000", "1e1000-web", "2026-01-01T00:00:00Z",
		"1e999", "12345678901234567890", "10.1.2.3",
	} {
		object := plainPod(1)
		object.Labels["l"] = text
		for _, e := range encodings {
			at, _ := suspect(e, encode(t, e, "Pod", &object), 0)
			if strings.HasPrefix(text, "sha256:") && e == JSON {
				continue // might be a number
			}
			require.Negative(t, at, "%s %s", e, text)
		}
	}
}

func TestObjectWithSuchAQuantityIsSkipped(t *testing.T) { // G11
	t.Parallel()
	body := `{"kind":"PersistentVolumeClaimList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` +
		strings.Replace(string(claim(t, JSON, "1e-1000000000", "", false)), `"a"`, `"bad"`, 1) + `,` + string(claim(t, JSON, "1e-3", "", false)) + `]}`
	stream, err := NewResource[*corev1.PersistentVolumeClaim](serveBytes(t, JSON, []byte(body)), corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), ResourceOptions{}).List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	items, skipped, err := drainList(stream)
	require.NoError(t, stream.Close())
	require.Equal(t, io.EOF, err)
	require.Len(t, items, 1)
	require.Len(t, skipped, 1)
	require.Equal(t, "bad", skipped[0].Key.Name)
	require.ErrorIs(t, skipped[0], errQuantity)

	maps := NewJSONResource[*unstructured.Unstructured](&Client{}, podsGVR, ResourceOptions{})
	_, err = maps.decoder.decode(JSON, []byte(`{"kind":"A","n":1e-1000000000,"s":"1e-1000000000"}`), &envelope{})
	require.NoError(t, err, "there, nobody takes it for a quantity")
}

// What the look for such quantities costs, next to decoding.
func BenchmarkQuantities(b *testing.B) {
	pod := plainPod(1)
	for _, e := range encodings {
		data := encode(b, e, "Pod", &pod)
		if e == Protobuf {
			var err error
			_, _, data, err = unwrapUnknown(data, false)
			require.NoError(b, err)
		}
		decoder := pods(&Client{}).decoder
		b.Run(e.String()+"/look", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if at, _ := suspect(e, data, 0); at >= 0 {
					b.Fatal(at)
				}
			}
		})
		b.Run(e.String()+"/decode", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decoder.decode(e, data, &envelope{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
