package apitest

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/builtin"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/tables"
)

// filler fills Go values with random content.
type filler struct{ *rand.Rand }

func (f filler) fill(v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case quantity.Quantity:
		v.Set(reflect.ValueOf(*quantity.NewQuantity(int64(f.IntN(100)), quantity.DecimalSI)))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.NewTime(time.Unix(f.Int64N(1e9), 0))))
		return
	case metav1.MicroTime, metav1.FieldsV1, runtime.RawExtension:
		return
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromString("50%")))
		return
	}
	if depth > 12 || f.IntN(4) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), f.IntN(5), 5))
		for i := range v.Len() {
			f.fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.IntN(3) {
			key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key, depth+1)
			f.fill(element, depth+1)
			v.SetMapIndex(key, element)
		}
	case reflect.String:
		v.SetString([]string{"a", "True", "Ready", "LoadBalancer", "limits.cpu", "node-role.kubernetes.io/x"}[f.IntN(6)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.IntN(10)))
	}
}

// TestTableCellsOfRandomObjects: each column has a cell, and field selectors work, even if any
// fields of an object are missing.
func TestTableCellsOfRandomObjects(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	f := filler{rand.New(rand.NewPCG(seed, 0))}
	for _, res := range builtin.Resources() {
		as := tables.Builtin(res.GoType)
		for i := range 20 {
			obj := res.New()
			f.fill(reflect.ValueOf(obj).Elem(), 0)
			require.NotPanics(t, func() {
				require.Len(t, as.Cells(obj), len(as.Headings), "%s", res.Kind)
				if res.FieldValues != nil {
					require.Len(t, res.FieldValues(obj), len(res.FieldNames))
				}
				if res.Flags&storage.Scalable != 0 {
					scaleOf(res, obj)
				}
				res.Document(obj)
			}, "%s, the object %d of seed %d: %s", res.Kind, i, seed, apiobject.MustJSON(obj))
		}
	}
}
