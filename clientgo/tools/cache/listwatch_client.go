package cache

import (
	"context"

	restclient "k8s.io/client-go/rest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Getter starts GET requests, as a RESTClient does.
type Getter interface {
	Get() *restclient.Request
}

// NewListWatchFromClient returns a ListWatch of a resource in a namespace ("" for all), with a
// field selector.
func NewListWatchFromClient(c Getter, resource string, namespace string, fieldSelector fields.Selector) *ListWatch {
	selector := fieldSelector.String()
	return NewFilteredListWatchFromClient(c, resource, namespace, func(options *metav1.ListOptions) { options.FieldSelector = selector })
}

// NewFilteredListWatchFromClient returns a ListWatch of a resource in a namespace ("" for all).
// optionsModifier changes the options of each list and watch. All four functions of the ListWatch
// are set.
func NewFilteredListWatchFromClient(c Getter, resource string, namespace string, optionsModifier func(options *metav1.ListOptions)) *ListWatch {
	request := func(options *metav1.ListOptions) *restclient.Request {
		optionsModifier(options)
		return c.Get().Namespace(namespace).Resource(resource).VersionedParams(options, metav1.ParameterCodec)
	}
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return request(&options).Do(ctx).Get()
	}
	open := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.Watch = true
		return request(&options).Watch(ctx)
	}
	return &ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) { return list(context.Background(), options) },
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			return open(context.Background(), options)
		},
		ListWithContextFunc:  list,
		WatchFuncWithContext: open,
	}
}
