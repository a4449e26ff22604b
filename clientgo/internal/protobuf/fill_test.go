package protobuf_test

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"k8s.io/client-go/kubernetes/scheme"
)

// everyType returns the types that typed clients send or receive.
func everyType(t *testing.T) (all []reflect.Type) {
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(ownMethods); ok && gvk.Version != runtime.APIVersionInternal {
			all = append(all, typ)
		}
	}
	slices.SortFunc(all, func(a, b reflect.Type) int {
		return cmp.Or(cmp.Compare(a.PkgPath(), b.PkgPath()), cmp.Compare(a.Name(), b.Name()))
	})
	return slices.Compact(all)
}

// filler fills objects with random values that survive encoding and decoding.
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
