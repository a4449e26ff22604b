package sharing_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/kinform/kinform/rest/sharing"
)

// message is what all types of k8s.io/api are.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// builtinTypes are all types of k8s.io/api that can be sent.
func builtinTypes(t testing.TB) []reflect.Type {
	scheme := runtime.NewScheme()
	builtin(func(add ...func(*runtime.Scheme) error) {
		for _, add := range add {
			require.NoError(t, add(scheme))
		}
	})
	var found []reflect.Type
	for gvk, typ := range scheme.AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(message); ok && gvk.Version != runtime.APIVersionInternal {
			found = append(found, typ)
		}
	}
	slices.SortFunc(found, func(a, b reflect.Type) int {
		return slices.Compare([]byte(a.PkgPath()+a.Name()), []byte(b.PkgPath()+b.Name()))
	})
	return slices.Compact(found)
}

// filler fills objects at random with what survives encoding.
func filler(seed int64) *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.4).NumElements(0, 3).MaxDepth(14).Funcs(
		func(m *metav1.FieldsV1, c randfill.Continue) { m.SetRawString(fmt.Sprintf(`{"f:%d":{}}`, c.Intn(9))) },
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(c.Int63n(1<<32), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.NewMicroTime(metav1.Unix(c.Int63n(1<<32), 0).Time)
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(c.Int63n(1<<40), resource.BinarySI)
		},
		func(e *runtime.RawExtension, c randfill.Continue) { e.Raw = []byte(c.String(20)) },
	)
}

func TestEveryBuiltinTypeIsDecodedAsByItsOwnMethod(t *testing.T) {
	t.Parallel()
	types := builtinTypes(t)
	require.Greater(t, len(types), 300)
	shared, alone := sharing.New(sharing.Options{}), sharing.New(sharing.Options{MaxBytes: -1})
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			for seed := range int64(8) {
				object := reflect.New(typ).Interface().(message)
				filler(seed).Fill(object)
				data, err := object.Marshal()
				require.NoError(t, err)
				want := reflect.New(typ).Interface().(message)
				require.NoError(t, want.Unmarshal(data))
				for range 2 {
					for _, d := range []*sharing.Decoder{shared, alone} {
						got := reflect.New(typ).Interface()
						require.NoError(t, unmarshal(d, data, got))
						require.Equal(t, want, got)
					}
				}
			}
		})
	}
	stats := shared.Stats()
	require.NotZero(t, stats.Hits)
	require.Zero(t, alone.Stats().Lookups)
}

// unmarshal decodes a copy of data and spoils it then, as buffers are used again.
func unmarshal(d *sharing.Decoder, data []byte, object any) error {
	own := append([]byte{}, data...)
	err := d.Unmarshal(own, object)
	for i := range own {
		own[i] = 0xff
	}
	return err
}
