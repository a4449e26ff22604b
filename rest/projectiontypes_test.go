package rest

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/internal/everytype"
	"github.com/kinform/kinform/rest/internal/wire"
	"github.com/kinform/kinform/rest/sharing"
)

// omitFrom removes from a decoded object the parts that d would remove from its bytes.
func omitFrom(d Omit, object everytype.Message) everytype.Message {
	v := reflect.ValueOf(object).Elem()
	if d.AllButMetadata {
		only := reflect.New(v.Type())
		only.Elem().FieldByName("ObjectMeta").Set(v.FieldByName("ObjectMeta"))
		object, v = only.Interface().(everytype.Message), only.Elem()
	}
	if status := v.FieldByName("Status"); d.Status && status.IsValid() {
		status.SetZero()
	}
	meta := object.(metav1.Object)
	if d.ManagedFields {
		meta.SetManagedFields(nil)
	}
	annotations := meta.GetAnnotations()
	for _, key := range d.Annotations {
		delete(annotations, key)
	}
	if len(annotations) == 0 {
		meta.SetAnnotations(nil)
	}
	return object
}

// TestOmitOfEveryBuiltinType: in an object of any type, shared or not, exactly the parts named
// by the Omit are missing. With AllButMetadata, the metadata equals the object's metadata.
func TestOmitOfEveryBuiltinType(t *testing.T) {
	t.Parallel()
	shared := sharing.New(sharing.Options{})
	share := func(data []byte, object any) error { return shared.DecodeProtobuf(data, object, nil) }
	own := func(data []byte, object any) error { return object.(everytype.Message).Unmarshal(data) }
	objects, statuses := 0, 0
	for _, typ := range testsize.Sample(everytype.All(), 4) {
		filled := reflect.New(typ).Interface()
		meta, ok := filled.(metav1.Object)
		if !ok {
			continue // a list, or a type that is sent to a subresource
		}
		objects++
		if reflect.ValueOf(filled).Elem().FieldByName("Status").IsValid() {
			statuses++
		}
		for seed := range int64(3) {
			everytype.Filler(seed).Fill(filled)
			meta.SetAnnotations(map[string]string{"a": "1", "b": "2", "c": "3"})
			if seed == 0 {
				meta.SetAnnotations(map[string]string{"a": "1"})
			}
			whole, err := filled.(everytype.Message).Marshal()
			require.NoError(t, err)
			for name, d := range projections {
				want := reflect.New(typ).Interface().(everytype.Message)
				require.NoError(t, want.Unmarshal(whole))
				want = omitFrom(d, want)
				data := d.remover(reflect.PointerTo(typ))(wire.Protobuf, bytes.Clone(whole))
				for _, decode := range []func([]byte, any) error{own, share, share} {
					got := reflect.New(typ).Interface().(everytype.Message)
					require.NoError(t, decode(data, got))
					if a := got.(metav1.Object); len(a.GetAnnotations()) == 0 {
						a.SetAnnotations(nil)
					}
					require.Equal(t, want, got, "%s without %s", typ, name)

					var partial metav1.PartialObjectMetadata
					require.NoError(t, decode(data, &partial))
					require.Equal(t, reflect.ValueOf(want).Elem().FieldByName("ObjectMeta").Interface(), partial.ObjectMeta)
				}
			}
		}
	}
	require.Greater(t, objects, testsize.Scale(150, 30))
	require.Greater(t, statuses, testsize.Scale(60, 12))
}
