// Package everytype has all types of k8s.io/api for tests of decoders, and fills objects of them at
// random.
package everytype

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

// Message has the methods that pointers to all types of [All] have.
type Message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// All returns the types that a server sends or receives, including lists.
func All() []reflect.Type {
	scheme := runtime.NewScheme()
	for _, add := range schemes {
		if err := add(scheme); err != nil {
			panic(err) // two types have the same name
		}
	}
	var found []reflect.Type
	for gvk, t := range scheme.AllKnownTypes() {
		if _, ok := reflect.New(t).Interface().(Message); ok && gvk.Version != runtime.APIVersionInternal {
			found = append(found, t)
		}
	}
	slices.SortFunc(found, func(a, b reflect.Type) int {
		return cmp.Or(cmp.Compare(a.PkgPath(), b.PkgPath()), cmp.Compare(a.Name(), b.Name()))
	})
	return slices.Compact(found)
}

// Filler returns a filler of objects with random values that stay the same through encoding and
// decoding.
func Filler(seed int64) *randfill.Filler {
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
