// Package builtin has the codecs of typed clients. Each group version has a scheme of its own types, made when it is needed. So
// a program links the types of the groups that it imports, and a program that starts makes no scheme of a thousand types.
//
// A program that links package kubernetes/scheme may add types to it, and expects that typed clients know them. Then that is the
// scheme of all of them.
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
	mu     sync.Mutex                          // guards following
	global func() runtime.NegotiatedSerializer // of package kubernetes/scheme; nil if it is not linked
	others func() *runtime.Scheme              // of all built-in types; nil if the clientset is not linked
	known  = map[schema.GroupVersion]runtime.NegotiatedSerializer{}
)

// Use makes codecs those of all clients that are made from now on. Package kubernetes/scheme calls it.
func Use(codecs func() runtime.NegotiatedSerializer) {
	mu.Lock()
	defer mu.Unlock()
	global = codecs
}

// Know makes the types that add adds known to clients of other groups. The clientset calls it.
func Know(add Add) {
	mu.Lock()
	defer mu.Unlock()
	others = schemeOf(add)
}

// Codecs returns the codecs for the clients of a version, which send and receive what the functions add.
func Codecs(version schema.GroupVersion, add ...Add) runtime.NegotiatedSerializer {
	mu.Lock()
	defer mu.Unlock()
	if global != nil {
		return global()
	}
	codecs := known[version]
	if codecs == nil {
		codecs = codec.New(types{own: schemeOf(add...), others: others})
		known[version] = codecs
	}
	return codecs
}

// schemeOf returns a function that makes a scheme at its first call.
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

// types are those of a scheme, and where that does not know one, of others.
type types struct {
	own    func() *runtime.Scheme
	others func() *runtime.Scheme // or nil
}

// ObjectKinds implements runtime.ObjectTyper.
func (t types) ObjectKinds(object runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	kinds, unversioned, err := t.own().ObjectKinds(object)
	if t.others != nil && runtime.IsNotRegisteredError(err) {
		return t.others().ObjectKinds(object)
	}
	return kinds, unversioned, err
}

// Recognizes implements runtime.ObjectTyper.
func (t types) Recognizes(kind schema.GroupVersionKind) bool {
	return t.own().Recognizes(kind) || t.others != nil && t.others().Recognizes(kind)
}

// New implements runtime.ObjectCreater.
func (t types) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object, err := t.own().New(kind)
	if t.others != nil && runtime.IsNotRegisteredError(err) {
		return t.others().New(kind)
	}
	return object, err
}
