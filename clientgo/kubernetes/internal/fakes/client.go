// Package fakes makes the fake clients of kinds, and answers what they are asked for beside the verbs of all kinds.
package fakes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/testing"
)

// object is a pointer to a T that is an object of Kubernetes' API.
type object[T any] interface {
	*T
	runtime.Object
	metav1.Object
}

// list is a pointer to an L that is a list of such objects.
type list[L any] interface {
	*L
	runtime.Object
	metav1.ListMetaAccessor
}

// configuration is a pointer to an apply configuration.
type configuration interface {
	comparable
	GetName() *string
}

// New returns the fake client of a kind that has no lists. namespace is "" for a resource without namespaces, and for all of
// them.
func New[T any, O object[T]](fake *testing.Fake, namespace string, version schema.GroupVersion, resource, kind string) *gentype.FakeClient[O] {
	return gentype.NewFakeClient(fake, namespace, version.WithResource(resource), version.WithKind(kind), func() O { return new(T) })
}

// Full returns the fake client of a kind with all verbs. items returns where a list has its items.
func Full[C configuration, T, L any, O object[T], M list[L]](
	fake *testing.Fake, namespace string, version schema.GroupVersion, resource, kind string, items func(*L) *[]T,
) *gentype.FakeClientWithListAndApply[O, M, C] {
	return gentype.NewFakeClientWithListAndApply[O, M, C](
		fake, namespace, version.WithResource(resource), version.WithKind(kind),
		func() O { return new(T) },
		func() M { return new(L) },
		copyListMeta[L, M],
		// An O is a *T, which the compiler learns at each call of Full alone.
		func(from M) []O { return any(gentype.ToPointerSlice(*items(from))).([]O) },
		func(to M, selected []O) { *items(to) = gentype.FromPointerSlice(any(selected).([]*T)) },
	)
}

// copyListMeta copies the metadata of a list: all lists of built-in types embed a metav1.ListMeta.
func copyListMeta[L any, M list[L]](to, from M) {
	*to.GetListMeta().(*metav1.ListMeta) = *from.GetListMeta().(*metav1.ListMeta)
}
