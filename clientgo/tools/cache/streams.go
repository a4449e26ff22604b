package cache

import (
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// streams reports whether the list function of lw returns the client's list unmodified. If so, the
// reflector takes the objects while they are decoded, and the list stays empty (package
// internal/sink). If the function reads or changes the items, or a client of the program wraps a
// client of this module, all items are needed. Known functions and clients:
//
//   - NewListWatchFromClient makes its requests itself.
//   - Informers of a factory of this module, or of a generated factory, return the result of the
//     client's List. The client's type must be the generated clientset's, not a type that embeds
//     it.
//   - controller-runtime makes its clients itself. Its list function changes only lists of
//     metadata, which are therefore excluded.
//
// The objects of any other list are decoded before the list function returns, which costs more
// memory.
func streams(lw ListerWatcherWithContext, expected reflect.Type) bool {
	switch lw := lw.(type) {
	case *ListWatch:
		name := nameOf(lw.ListWithContextFunc)
		if strings.HasPrefix(name, "k8s.io/client-go/tools/cache.NewFilteredListWatchFromClient.") {
			return true
		}
		return strings.HasPrefix(name, runtimeModule+"/pkg/cache/internal.(*Informers).addInformerToMap.func") && knownRuntime() &&
			expected != nil && expected != reflect.TypeFor[*metav1.PartialObjectMetadata]() && expected != reflect.TypeFor[*metav1.PartialObjectMetadataList]()
	case clientListWatch:
		return isFactory(nameOf(lw.ListWithContextFunc)) && isClient(reflect.TypeOf(lw.client))
	}
	return false
}

func nameOf(list ListWithContextFunc) string {
	if list == nil {
		return ""
	}
	return runtime.FuncForPC(reflect.ValueOf(list).Pointer()).Name()
}

// isFactory reports whether a function is a list function of a generated informer.
func isFactory(name string) bool {
	for _, prefix := range []string{
		"k8s.io/client-go/informers/",
		"k8s.io/client-go/informers.",
		"k8s.io/client-go/dynamic/dynamicinformer.",
		"k8s.io/client-go/metadata/metadatainformer.",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	// The names of list functions in informers that informer-gen generates for a project's own
	// types.
	function := name[strings.LastIndexByte(name, '/')+1:]
	return strings.Contains(name, "/informers/externalversions/") && strings.Contains(function, ".NewFiltered") && strings.Contains(function, "Informer.func")
}

// isClient reports whether a type is a client of this module or of a generated clientset.
func isClient(t reflect.Type) bool {
	if t == nil || t.Kind() != reflect.Pointer {
		return false
	}
	switch path, name := t.Elem().PkgPath(), t.Elem().Name(); path {
	case "k8s.io/client-go/kubernetes":
		return name == "Clientset"
	case "k8s.io/client-go/dynamic":
		return name == "DynamicClient"
	case "k8s.io/client-go/metadata":
		return name == "Client"
	default:
		return name == "Clientset" && strings.HasSuffix(path, "/clientset/versioned")
	}
}

const (
	runtimeModule = "sigs.k8s.io/controller-runtime"
	// The versions of controller-runtime whose list functions were checked. Later versions are not
	// included.
	runtimeVersions = "v0.25."
)

// knownRuntime reports whether the program has a version of controller-runtime whose list functions
// are known. controller-runtime's own tests count as known.
var knownRuntime = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && isKnownRuntime(info)
})

func isKnownRuntime(info *debug.BuildInfo) bool {
	if info.Main.Path == runtimeModule {
		return true
	}
	for _, module := range info.Deps {
		if module.Path == runtimeModule {
			return module.Replace == nil && strings.HasPrefix(module.Version, runtimeVersions)
		}
	}
	return false
}
