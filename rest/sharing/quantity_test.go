package sharing_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/quantity"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/sharing"
)

// protobufPod returns a pod in protobuf with spec.overhead["cpu"] = text.
func protobufPod(text string) []byte {
	field := func(tag, contents string) string {
		return tag + string(appendLength(nil, len(contents))) + contents
	}
	entry := field("\x0a", "cpu") + field("\x12", field("\x0a", text))
	return []byte(field("\x12", field("\x82\x02", entry)))
}

// TestExtremeQuantityIsDecodedQuickly: apimachinery would need hours for 1e-1000000000, and minutes
// for some megabytes of digits. Decoding is quick for any position of such a text.
func TestExtremeQuantityIsDecodedQuickly(t *testing.T) { // G11
	t.Parallel()
	type Embedded struct{ Q resource.Quantity }
	type deep struct {
		Deep []deep `json:"deep"`
		Q    []resource.Quantity
	}
	type places struct {
		*Embedded
		ByNumber map[int]resource.Quantity
		//lint:ignore SA5008 encoding/json ignores it, and so must this package
		Option  resource.Quantity `json:",string"`
		Pointer **resource.Quantity
		Deep    []deep
		Own     selfMade
		Text    string
	}
	d := sharing.New(sharing.Options{})
	long := testsize.Scale(1<<20, 1<<17)
	for text, want := range map[string]string{
		"1e-3": "1m", "1e-1000000000": "1n", "1E-1000000000": "1n", "1e-00001000000000": "1n", "1e1000000000": "1e2000",
		"0." + strings.Repeat("1", long): "0.111111112", strings.Repeat("1", long): "1e2000",
	} {
		wanted := resource.MustParse(want)
		var pod corev1.Pod
		require.NoError(t, unmarshal(d, protobufPod(text), &pod))
		require.Zero(t, wanted.Cmp(pod.Spec.Overhead["cpu"]))
		one := `{"overhead":{"cpu":"` + text + `"}}`
		for _, document := range []string{
			`{"spec":` + one + `}`,
			// If the document has a field twice, apimachinery's decoder decodes the object.
			`{"metadata":{},"metadata":{},"spec":` + one + `}`,
			`{"spec":` + one + `,"spec":` + one + `}`,
		} {
			var pod corev1.Pod
			require.NoError(t, decodeJSON(d, []byte(document), &pod))
			require.Zero(t, wanted.Cmp(pod.Spec.Overhead["cpu"]))
		}
		for _, document := range []string{`{"Q":$}`, `{"ByNumber":{"1":$}}`, `{"Option":$}`, `{"Pointer":$}`, `{"Own":{"limit":$}}`,
			`{"Deep":` + strings.Repeat(`[{"deep":`, 100) + `[{"Q":[$]}]` + strings.Repeat(`}]`, 100) + `}`} {
			for _, quote := range []string{`"`, ``} {
				var got places
				require.NoError(t, decodeJSON(d, []byte(strings.ReplaceAll(document, "$", quote+text+quote)), &got))
				found := append([]resource.Quantity{got.Option, got.Own.Limit, got.ByNumber[1]}, deepest(got.Deep, func(d deep) ([]deep, []resource.Quantity) { return d.Deep, d.Q })...)
				if got.Embedded != nil {
					found = append(found, got.Q)
				}
				if got.Pointer != nil {
					found = append(found, **got.Pointer)
				}
				require.True(t, slices.ContainsFunc(found, func(q resource.Quantity) bool { return wanted.Cmp(q) == 0 }), "%.50s", document)
			}
		}
		var got places
		require.NoError(t, decodeJSON(d, []byte(`{"Text":"`+text+`","Own":{"note":"`+text+`"}}`), &got))
		require.Equal(t, []string{text, text}, []string{got.Text, got.Own.Note})
	}
	require.ErrorIs(t, decodeJSON(d, []byte(`{"a":"1e-1000000000"}`), &map[string]strict{}), quantity.ErrExtreme)
}

func deepest[T any](list []T, of func(T) ([]T, []resource.Quantity)) (found []resource.Quantity) {
	for len(list) > 0 {
		list, found = of(list[0])
	}
	return found
}

// selfMade decodes itself, like types that fill in defaults.
type selfMade struct {
	Limit resource.Quantity `json:"limit"`
	Note  string            `json:"note"`
}

func (o *selfMade) UnmarshalJSON(data []byte) error {
	type plain selfMade
	return json.Unmarshal(data, (*plain)(o))
}

// strict has a method that parses a text as a quantity, although the type has no field of type
// Quantity.
type strict struct{ value int64 }

func (s *strict) UnmarshalJSON(data []byte) error {
	q, err := resource.ParseQuantity(strings.Trim(string(data), `"`))
	s.value = q.Value()
	return err
}

// TestAddressableQuantitiesAreNotShared tests quantities below many levels of lists, and in the
// values of a map.
func TestAddressableQuantitiesAreNotShared(t *testing.T) {
	t.Parallel()
	type deep struct {
		Deep []deep              `json:"deep"`
		Q    []resource.Quantity `json:"q"`
	}
	// Because of the embedded pointer, apimachinery's decoder decodes this type.
	type foreign struct {
		*metav1.TypeMeta
		Q *resource.Quantity `json:"q"`
	}
	type holder struct{ Foreign *map[string]foreign }
	d := sharing.New(sharing.Options{})
	const levels = 40
	document := []byte(strings.Repeat(`{"deep":[`, levels) + `{"q":["1"]}` + strings.Repeat(`]}`, levels))
	bottom := func(v deep) *resource.Quantity {
		for len(v.Deep) > 0 {
			v = v.Deep[0]
		}
		return &v.Q[0]
	}
	for range 3 {
		var a, b deep
		require.NoError(t, decodeJSON(d, document, &a))
		require.NoError(t, decodeJSON(d, document, &b))
		require.NotSame(t, bottom(a), bottom(b))

		var c, e holder
		require.NoError(t, decodeJSON(d, []byte(`{"Foreign":{"in":{"q":"1"}}}`), &c))
		require.NoError(t, decodeJSON(d, []byte(`{"Foreign":{"in":{"q":"1"}}}`), &e))
		require.NotSame(t, (*c.Foreign)["in"].Q, (*e.Foreign)["in"].Q)
	}
}
