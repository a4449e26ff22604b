// Package fakes makes the fake clients of kinds, and implements their methods beyond the common
// verbs.
package fakes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"
)

// object is the constraint of a pointer type *T that is an API object.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// list is the constraint of a pointer type *L that is a list of API objects.
type list[L any] interface {
	*L
	runtime.Object
	metav1.ListMetaAccessor
}

// configuration is the constraint of a pointer to an apply configuration.
type configuration interface {
	comparable
	GetName() *string
}

// New returns the fake client of a kind without lists. namespace is "" for a cluster-scoped
// resource, and for all namespaces.
func New[T any, O object[T]](fake *testing.Fake, namespace string, version schema.GroupVersion, resource, kind string) *gentype.FakeClient[O] {
	return gentype.NewFakeClient(fake, namespace, version.WithResource(resource), version.WithKind(kind), func() O { return new(T) })
}

// Full returns the fake client of a kind with all verbs. The function items returns a pointer to
// the items of a list.
func Full[C configuration, T, L any, O object[T], M list[L]](
	fake *testing.Fake, namespace string, version schema.GroupVersion, resource, kind string, items func(*L) *[]T,
) *gentype.FakeClientWithListAndApply[O, M, C] {
	return gentype.NewFakeClientWithListAndApply[O, M, C](
		fake, namespace, version.WithResource(resource), version.WithKind(kind),
		func() O { return new(T) },
		func() M { return new(L) },
		copyListMeta[L, M],
		// O is always *T, but without the type assertions the compiler does not accept an O as a *T
		// in a generic function.
		func(from M) []O { return any(gentype.ToPointerSlice(*items(from))).([]O) },
		func(to M, selected []O) { *items(to) = gentype.FromPointerSlice(any(selected).([]*T)) },
	)
}

// copyListMeta copies the metadata of a list: all lists of built-in types embed a metav1.ListMeta.
func copyListMeta[L any, M list[L]](to, from M) {
	*to.GetListMeta().(*metav1.ListMeta) = *from.GetListMeta().(*metav1.ListMeta)
}
