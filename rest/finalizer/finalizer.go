package finalizer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ErrDeleting is the error of Ensure for an object that is being deleted: it cannot
// be held any more.
var ErrDeleting = errors.New("the object is being deleted")

// ErrReplaced is the error of Ensure for an object that has gone, where another has
// its name by now.
var ErrReplaced = errors.New("the object is gone, another has its name")

// errNoUID says that it is not known which object is meant.
var errNoUID = errors.New("the object has no UID, and another one may have its name: have it keep metadata.uid, or get it first")

// Objects is what is needed of a resource. *rest.Resource is one.
type Objects[T any] interface {
	Get(ctx context.Context, key types.NamespacedName, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// attempts is how often a patch is made anew because the object has changed.
const attempts = 8

// Handle does what is due for a finalizer:
//
//   - An object that is not being deleted gets it, and is returned with it. Only then
//     may be made what clean removes.
//   - For one that is being deleted and has it, clean is called and, if that returns
//     nil, the finalizer removed. gone is true then: there is nothing more to do.
//   - For one that is being deleted and has it no more, gone is true.
//
// clean is called again as long as it fails, if the caller comes again, and may also
// be called again after it succeeded, as the object may be an old one: what is gone
// already must be no error. object, which is not changed, may come from a cache.
func Handle[T metav1.Object](ctx context.Context, objects Objects[T], object T, name string, clean func(context.Context, T) error) (current T, gone bool, err error) {
	switch {
	case object.GetDeletionTimestamp() == nil:
		current, err = Ensure(ctx, objects, object, name)
		if errors.Is(err, ErrDeleting) { // It has not been held, so nothing has been made.
			return current, true, nil
		}
		return current, false, err
	case !slices.Contains(object.GetFinalizers(), name):
		return object, true, nil
	}
	if err := clean(ctx, object); err != nil {
		return object, false, err
	}
	current, err = Remove(ctx, objects, object, name)
	return current, err == nil, err
}

// Ensure adds the finalizer, if it is missing, and returns the object as it is then.
// Errors are ErrDeleting, ErrReplaced, and those of the server.
func Ensure[T metav1.Object](ctx context.Context, objects Objects[T], object T, name string) (T, error) {
	return change(ctx, objects, object, name, "add", func(object T) ([]operation, error) {
		finalizers := object.GetFinalizers()
		switch {
		case slices.Contains(finalizers, name):
			return nil, nil
		case object.GetDeletionTimestamp() != nil:
			return nil, ErrDeleting
		case len(finalizers) == 0:
			return []operation{
				{Op: "test", Path: "/metadata/finalizers", Value: nil},
				{Op: "add", Path: "/metadata/finalizers", Value: []string{name}},
			}, nil
		}
		return []operation{
			{Op: "test", Path: "/metadata/finalizers", Value: finalizers},
			{Op: "add", Path: "/metadata/finalizers/-", Value: name},
		}, nil
	})
}

// Remove removes the finalizer, if it is there, and returns the object as it was
// last. That the object is gone already is no error.
func Remove[T metav1.Object](ctx context.Context, objects Objects[T], object T, name string) (T, error) {
	current, err := change(ctx, objects, object, name, "remove", func(object T) ([]operation, error) {
		at := slices.Index(object.GetFinalizers(), name)
		if at < 0 {
			return nil, nil
		}
		path := "/metadata/finalizers/" + strconv.Itoa(at)
		return []operation{{Op: "test", Path: path, Value: name}, {Op: "remove", Path: path}}, nil
	})
	if apierrors.IsNotFound(err) || errors.Is(err, ErrReplaced) {
		return object, nil
	}
	return current, err
}

// operation is one of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// change patches an object, with a patch made for the state that it is in; without
// any there is nothing to do.
func change[T metav1.Object](ctx context.Context, objects Objects[T], object T, name, verb string, patch func(T) ([]operation, error)) (T, error) {
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	about := func(err error) error {
		if err != nil {
			err = fmt.Errorf("finalizer: %s %s on %s: %w", verb, name, key, err)
		}
		return err
	}
	uid, current := object.GetUID(), object
	for attempt := 1; ; attempt++ {
		operations, err := patch(current)
		if len(operations) == 0 || err != nil {
			return current, about(err)
		}
		if uid == "" {
			return current, about(errNoUID)
		}
		data, err := json.Marshal(append([]operation{{Op: "test", Path: "/metadata/uid", Value: uid}}, operations...))
		if err != nil {
			return current, about(err)
		}
		patched, refused := objects.Patch(ctx, key, types.JSONPatchType, data, metav1.PatchOptions{})
		if refused == nil {
			return patched, nil
		}
		// A failed test is a 422, as are many other things.
		if !apierrors.IsInvalid(refused) && !apierrors.IsConflict(refused) || attempt == attempts {
			return current, about(refused)
		}
		fresh, err := objects.Get(ctx, key, metav1.GetOptions{})
		switch {
		case err != nil:
			return current, about(err)
		case fresh.GetUID() != uid:
			return current, about(ErrReplaced)
		case fresh.GetResourceVersion() == current.GetResourceVersion():
			return current, about(refused) // It is not that somebody was faster.
		}
		current = fresh
	}
}
