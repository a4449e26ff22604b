//go:build !kinform_no_openapi

package applyconfigurations

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations/internal"
)

// NewTypeConverter returns a converter from types of k8s.io/api to the typed values that field
// managers merge.
func NewTypeConverter(scheme *runtime.Scheme) managedfields.TypeConverter {
	return managedfields.NewSchemeTypeConverter(scheme, internal.Parser())
}
