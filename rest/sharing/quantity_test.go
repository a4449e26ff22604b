package sharing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/sharing"
)

// protobufPod is a pod of the encoding spec.overhead["cpu"] = quantity.
func protobufPod(quantity string) []byte {
	field := func(tag, contents string) string {
		return tag + string(appendLength(nil, len(contents))) + contents
	}
	entry := field("\x0a", "cpu") + field("\x12", field("\x0a", quantity))
	return []byte(field("\x12", field("\x82\x02", entry)))
}

// TestAQuantityCannotKeepADecoderBusy: apimachinery needs hours for 1e-1000000000, and
// minutes for some megabytes of digits.
func TestAQuantityCannotKeepADecoderBusy(t *testing.T) {
	t.Parallel()
	d := sharing.New(sharing.Options{})
	const end = "an exponent of more than three digits"
	var pod corev1.Pod
	require.NoError(t, unmarshal(d, protobufPod("1e-3"), &pod))
	require.Equal(t, resource.MustParse("1e-3"), pod.Spec.Overhead["cpu"])
	for _, quantity := range []string{"1e-1000000000", "1E-1000000000", "1e-00001000000000", "0." + strings.Repeat("1", 1<<20)} {
		require.ErrorContains(t, unmarshal(d, protobufPod(quantity), &pod), end)
		one := `{"overhead":{"cpu":"` + quantity + `"}}`
		for _, document := range []string{
			`{"spec":` + one + `}`,
			// A field in two places is for apimachinery's decoder.
			`{"metadata":{},"metadata":{},"spec":` + one + `}`,
			`{"spec":` + one + `,"spec":` + one + `}`,
		} {
			require.ErrorContains(t, decodeJSON(d, []byte(document), &pod), end)
		}
	}

	type deep struct {
		Deep []deep `json:"deep"`
		Q    []resource.Quantity
	}
	const levels = 100
	document := strings.Repeat(`{"deep":[`, levels) + `{"Q":["1e-1000000000"]}` + strings.Repeat(`]}`, levels)
	require.ErrorContains(t, decodeJSON(d, []byte(document), &deep{}), end)
}

// TestQuantitiesThatHaveAnAddressAreNeverShared, neither below many levels of lists
// nor within the values of a map.
func TestQuantitiesThatHaveAnAddressAreNeverShared(t *testing.T) {
	t.Parallel()
	type deep struct {
		Deep []deep              `json:"deep"`
		Q    []resource.Quantity `json:"q"`
	}
	// A pointer that is embedded leaves this type to apimachinery's decoder.
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
