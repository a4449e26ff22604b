package cache

import (
	"reflect"
	"runtime"
	"strings"
)

// streams says whether the list function of lw returns a list as its client has filled it, so that the objects can be
// handed over while they are decoded, and its list stays empty (package internal/sink). A function that looks at the
// items of its list, or changes them, must get all of them; nothing but its name tells which functions don't.
func streams(lw ListerWatcherWithContext) bool {
	var l *ListWatch
	switch lw := lw.(type) {
	case *ListWatch:
		l = lw
	case clientListWatch:
		l = lw.ListWatch
	}
	if l == nil || l.ListWithContextFunc == nil {
		return false
	}
	return streamsByName(runtime.FuncForPC(reflect.ValueOf(l.ListWithContextFunc).Pointer()).Name())
}

func streamsByName(name string) bool {
	for _, prefix := range []string{
		"k8s.io/client-go/tools/cache.NewFilteredListWatchFromClient.",
		"k8s.io/client-go/informers/",
		"k8s.io/client-go/informers.",
		"k8s.io/client-go/dynamic/dynamicinformer.",
		"k8s.io/client-go/metadata/metadatainformer.",
		"sigs.k8s.io/controller-runtime/pkg/cache/internal.(*Informers).makeListWatcher.",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	// What informer-gen makes for a project's own types.
	function := name[strings.LastIndexByte(name, '/')+1:]
	return strings.Contains(name, "/informers/externalversions/") && strings.Contains(function, ".NewFiltered") && strings.Contains(function, "Informer.func")
}
