//go:build !kinform_no_openapi

package fake

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/testing"
)

// NewClientset is NewSimpleClientset with managed fields, so it supports server-side apply.
func NewClientset(objects ...runtime.Object) *Clientset {
	scheme := types()
	return newClientset(testing.NewFieldManagedObjectTracker(
		scheme, serializer.NewCodecFactory(scheme).UniversalDecoder(), applyconfigurations.NewTypeConverter(scheme),
	), objects)
}
