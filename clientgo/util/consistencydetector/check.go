package consistencydetector

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// RetrieveItemsFunc returns the objects to check.
type RetrieveItemsFunc[U any] func() []U

// ListFunc lists the objects from the server for the comparison.
type ListFunc[T runtime.Object] func(ctx context.Context, options metav1.ListOptions) (T, error)

// TransformFunc transforms each listed object before the comparison, in the same way as the checked
// objects were transformed.
type TransformFunc func(interface{}) (interface{}, error)

// retryPeriod is the time between two attempts to list.
const retryPeriod = time.Second

// CheckDataConsistency lists the objects at lastSyncedResourceVersion, and compares them with the
// objects that retrieveItemsFn returns. If objects differ, it logs them and panics. It retries a
// failed list every second until the context ends. If the version is "0", or the objects are a
// later page of a list, it checks nothing: a server cannot list the same objects again.
//
// The objects need metadata. Logs describe the objects as identity. The list uses listOptions,
// without the limit if the checked objects came from a watch cache, which ignores limits.
func CheckDataConsistency[T runtime.Object, U any](ctx context.Context, identity string, lastSyncedResourceVersion string, listFn ListFunc[T], listItemTransformFunc TransformFunc, listOptions metav1.ListOptions, retrieveItemsFn RetrieveItemsFunc[U]) {
	logger := klog.FromContext(ctx)
	if lastSyncedResourceVersion == "0" || listOptions.Continue != "" {
		logger.V(4).Info("No check of consistency: there is no version to list", "identity", identity, "resourceVersion", lastSyncedResourceVersion, "continue", listOptions.Continue)
		return
	}
	var retrieved []metav1.Object
	for _, item := range retrieveItemsFn() {
		retrieved = append(retrieved, metadataOf(item))
	}
	if listOptions.ResourceVersion == "0" && listOptions.Limit > 0 && int64(len(retrieved)) > listOptions.Limit {
		listOptions.Limit = 0
	}
	listOptions.ResourceVersion = lastSyncedResourceVersion
	listOptions.ResourceVersionMatch = metav1.ResourceVersionMatchExact

	var list runtime.Object
	err := wait.PollUntilContextCancel(ctx, retryPeriod, true, func(ctx context.Context) (bool, error) {
		var err error
		if list, err = listFn(ctx, listOptions); err != nil {
			logger.Error(err, "The list of a check of consistency failed, there will be another attempt", "identity", identity)
			return false, nil
		}
		return true, nil
	})
	if err != nil {
		logger.V(4).Info("No check of consistency: the context has ended", "identity", identity, "err", err)
		return
	}
	items, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		panic(fmt.Errorf("check of consistency of %s: %w", identity, err))
	}
	var listed []metav1.Object
	for _, item := range items {
		var obj any = item
		if listItemTransformFunc != nil {
			if obj, err = listItemTransformFunc(item); err != nil {
				panic(fmt.Errorf("check of consistency of %s: %w", identity, err))
			}
		}
		listed = append(listed, metadataOf(obj))
	}
	if differences := compare(retrieved, listed); len(differences) > 0 {
		message := fmt.Sprintf("data inconsistency detected for %s, panicking!", identity)
		logger.Error(nil, message, "resourceVersion", lastSyncedResourceVersion, "differences", differences)
		panic(message)
	}
}

func metadataOf(obj any) metav1.Object {
	o, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Errorf("check of consistency: %T: %w", obj, err))
	}
	return o
}

// compare describes the objects that differ.
func compare(retrieved, listed []metav1.Object) (differences []string) {
	note := func(o metav1.Object, what string) {
		differences = append(differences, fmt.Sprintf("%s/%s (%s) %s", o.GetNamespace(), o.GetName(), o.GetResourceVersion(), what))
	}
	type identity struct{ namespace, name, uid string }
	of := func(o metav1.Object) identity { return identity{o.GetNamespace(), o.GetName(), string(o.GetUID())} }
	left := make(map[identity]metav1.Object, len(listed))
	for _, o := range listed {
		id := of(o)
		if _, twice := left[id]; twice {
			note(o, "is in the list twice")
		}
		left[id] = o
	}
	for _, o := range retrieved {
		id := of(o)
		switch other, is := left[id]; {
		case !is:
			note(o, "is not in the list")
		case !reflect.DeepEqual(o, other):
			note(o, "differs from the list's, whose version is "+other.GetResourceVersion())
		}
		delete(left, id)
	}
	for _, o := range left {
		note(o, "is in the list only")
	}
	slices.Sort(differences)
	return differences
}
