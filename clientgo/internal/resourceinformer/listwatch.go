package resourceinformer

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// ListWatch returns a cache.ListWatch that calls the two functions. All four functions of the
// ListWatch are set.
func ListWatch(list cache.ListWithContextFunc, watches cache.WatchFuncWithContext) *cache.ListWatch {
	return &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			return list(context.Background(), options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return watches(context.Background(), options)
		},
		ListWithContextFunc:  list,
		WatchFuncWithContext: watches,
	}
}
