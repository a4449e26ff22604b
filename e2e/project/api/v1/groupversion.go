// Package v1 has the types of the project.
//
// +kubebuilder:object:generate=true
// +groupName=web.e2e.kinform
package v1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	// GroupVersion is that of the types.
	GroupVersion = schema.GroupVersion{Group: "web.e2e.kinform", Version: "v1"}

	// SchemeBuilder adds the types to a scheme.
	SchemeBuilder = &scheme.Builder{GroupVersion: GroupVersion}

	// AddToScheme adds the types to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)
