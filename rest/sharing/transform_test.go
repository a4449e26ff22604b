package sharing_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/sharing"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// TestTransformOfEveryBuiltinType: Transform returns an object that equals the function's result.
// The object shares its unchanged parts with the first object.
func TestTransformOfEveryBuiltinType(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, typ := range testsize.Sample(everytype.All(), 5) {
		if !sharing.Copies(reflect.PointerTo(typ)) {
			continue
		}
		tried++
		filled := func(seed int64) runtime.Object {
			object := reflect.New(typ).Interface()
			everytype.Filler(seed).Fill(object)
			return object.(runtime.Object)
		}
		object, other := filled(1), filled(2)
		before := object.DeepCopyObject()
		same, err := sharing.Transform(object, func(copied any) (any, error) { return copied, nil })
		require.NoError(t, err)
		require.Equal(t, before, same)
		if content := reflect.ValueOf(object).Elem().Interface(); mutation.CheckUnshared(content, content) != nil {
			// parts of the object share memory with each other
			require.Error(t, mutation.CheckUnshared(object, same), "%s: unchanged parts must be shared again", typ)
		}

		got, err := sharing.Transform(object, func(copied any) (any, error) {
			reflect.ValueOf(copied).Elem().Set(reflect.ValueOf(other.DeepCopyObject()).Elem())
			return copied, nil
		})
		require.NoError(t, err)
		require.Equal(t, other, got)
		require.Equal(t, before, object)
		require.NoError(t, mutation.CheckUnshared(other, got))
	}
	require.Greater(t, tried, 10)
}
