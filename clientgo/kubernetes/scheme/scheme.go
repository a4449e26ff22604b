// Package scheme has the scheme of all built-in types, and its codecs. If a program imports it, all
// typed clients use this scheme.
package scheme

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"k8s.io/client-go/kubernetes/internal/builtin"
	"k8s.io/client-go/kubernetes/internal/everything"
)

// Scheme has all built-in types. Programs may add types to it before they use it.
var Scheme = runtime.NewScheme()

// Codecs decodes and encodes the types of Scheme.
var Codecs = serializer.NewCodecFactory(Scheme)

// ParameterCodec encodes options as query parameters.
var ParameterCodec = runtime.NewParameterCodec(Scheme)

// AddToScheme adds all built-in types to a scheme.
var AddToScheme = everything.AddToScheme

func init() {
	metav1.AddToGroupVersion(Scheme, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(AddToScheme(Scheme))
	builtin.Use(func() runtime.NegotiatedSerializer { return Codecs.WithoutConversion() })
}
