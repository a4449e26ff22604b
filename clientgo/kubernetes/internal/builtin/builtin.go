// Package builtin has the codecs of typed clients. Each group version has a scheme with only its
// own types, made on first use. A program therefore links only the types of the groups that it
// imports, and does not build a scheme of a thousand types at start.
//
// A program that links package kubernetes/scheme may add types to that scheme, and expects typed
// clients to know them. All clients then use that scheme.
package builtin

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"k8s.io/client-go/internal/codec"
)

// Add adds types to a scheme.
type Add = func(*runtime.Scheme) error

var (
	mu sync.Mutex // guards following
	// the codecs of package kubernetes/scheme; nil if that package is not linked
	global func() runtime.NegotiatedSerializer
	// all built-in types; nil if the clientset is not linked
	allTypes        func() *runtime.Scheme
	codecsByVersion = map[schema.GroupVersion]runtime.NegotiatedSerializer{}
)

// Use sets the codecs of all clients made from now on. Package kubernetes/scheme calls it.
func Use(codecs func() runtime.NegotiatedSerializer) {
	mu.Lock()
	defer mu.Unlock()
	global = codecs
}

// Register lets all clients decode the types that the function add registers, in addition to their
// own types. The clientset calls it.
func Register(add Add) {
	mu.Lock()
	defer mu.Unlock()
	allTypes = schemeOf(add)
}

// Codecs returns the codecs for the clients of a version. The add functions register the types that
// these clients send and receive.
func Codecs(version schema.GroupVersion, add ...Add) runtime.NegotiatedSerializer {
	mu.Lock()
	defer mu.Unlock()
	if global != nil {
		return global()
	}
	codecs := codecsByVersion[version]
	if codecs == nil {
		codecs = codec.New(types{own: schemeOf(add...), fallback: allTypes})
		codecsByVersion[version] = codecs
	}
	return codecs
}

// schemeOf returns a function that makes a scheme on its first call.
func schemeOf(add ...Add) func() *runtime.Scheme {
	return sync.OnceValue(func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
		for _, f := range add {
			utilruntime.Must(f(scheme))
		}
		return scheme
	})
}

// types looks up a type in the scheme own, and then in the scheme fallback.
type types struct {
	own      func() *runtime.Scheme
	fallback func() *runtime.Scheme // may be nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (t types) ObjectKinds(object runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	kinds, unversioned, err := t.own().ObjectKinds(object)
	if t.fallback != nil && runtime.IsNotRegisteredError(err) {
		return t.fallback().ObjectKinds(object)
	}
	return kinds, unversioned, err
}

// Recognizes implements runtime.ObjectTyper.
func (t types) Recognizes(kind schema.GroupVersionKind) bool {
	return t.own().Recognizes(kind) || t.fallback != nil && t.fallback().Recognizes(kind)
}

// New implements runtime.ObjectCreater.
func (t types) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object, err := t.own().New(kind)
	if t.fallback != nil && runtime.IsNotRegisteredError(err) {
		return t.fallback().New(kind)
	}
	return object, err
}
