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

	"github.com/kinform/kinform/internal/contain"
)

// ErrDeleting is the error of Ensure for an object that is being deleted, because it is too late to
// add a finalizer.
var ErrDeleting = errors.New("the object is being deleted")

// ErrReplaced is the error of Ensure if the object is gone, and another object of the same name
// exists.
var ErrReplaced = errors.New("the object was deleted, and another object has the same name")

// errNoUID is the error for an object without a UID. Without it, a patch could change another
// object of the same name.
var errNoUID = errors.New("the object has no UID, and another object may have the same name: keep metadata.uid in the object, or get the object first")

// Objects has the methods of a resource that this package needs. *rest.Resource implements it.
type Objects[T any] interface {
	Get(ctx context.Context, key types.NamespacedName, opts metav1.GetOptions) (T, error)
	Patch(ctx context.Context, key types.NamespacedName, patchType types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// attempts is the maximum number of patches if the object changes meanwhile.
const attempts = 8

// Handle adds or removes a finalizer, as the state of the object requires:
//
//   - If the object is not being deleted, Handle adds the finalizer if it is missing, and returns
//     the object with the finalizer. After this the caller may create resources that the function
//     clean removes.
//   - If the object is being deleted and has the finalizer, Handle calls the function clean. If
//     clean returns nil, Handle removes the finalizer and returns gone as true: nothing is left to
//     do.
//   - If the object is being deleted and does not have the finalizer, gone is true.
//
// If clean fails, Handle returns its error, and the next call of Handle calls clean again. Handle
// does not change object, which may come from a cache. Because a cached object may be old, Handle
// may call clean again even after a success. So clean must return nil if there is nothing left to
// clean up.
func Handle[T metav1.Object](ctx context.Context, objects Objects[T], object T, name string, clean func(context.Context, T) error) (current T, gone bool, err error) {
	switch {
	case object.GetDeletionTimestamp() == nil:
		current, err = Ensure(ctx, objects, object, name)
		if errors.Is(err, ErrDeleting) {
			// Since it lacks the finalizer, there is nothing to clean up.
			return current, true, nil
		}
		return current, false, err
	case !slices.Contains(object.GetFinalizers(), name):
		return object, true, nil
	}
	if err := contain.SafeError(clean(ctx, object)); err != nil {
		return object, false, err
	}
	current, err = Remove(ctx, objects, object, name)
	return current, err == nil, err
}

// Ensure adds the finalizer, if it is missing, and returns the object with it. Errors are
// ErrDeleting, ErrReplaced, and errors of the server.
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

// Remove removes the finalizer, if the object has it, and returns the last state of the object. It
// is not an error if the object is gone.
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

// operation is an operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// change patches an object. The function patch returns the operations for a state of the object, or
// no operations if nothing is to be done.
func change[T metav1.Object](ctx context.Context, objects Objects[T], object T, name, verb string, patch func(T) ([]operation, error)) (T, error) {
	key := types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
	wrap := func(err error) error {
		if err != nil {
			err = fmt.Errorf("finalizer: %s %s on %s: %w", verb, name, key, err)
		}
		return err
	}
	uid, current := object.GetUID(), object
	for attempt := 1; ; attempt++ {
		operations, err := patch(current)
		if len(operations) == 0 || err != nil {
			return current, wrap(err)
		}
		if uid == "" {
			return current, wrap(errNoUID)
		}
		data, err := json.Marshal(append([]operation{{Op: "test", Path: "/metadata/uid", Value: uid}}, operations...))
		if err != nil {
			return current, wrap(err)
		}
		patched, refused := objects.Patch(ctx, key, types.JSONPatchType, data, metav1.PatchOptions{})
		if refused == nil {
			return patched, nil
		}
		// The server returns 422 if a test of the patch fails, but also for other reasons.
		if !apierrors.IsInvalid(refused) && !apierrors.IsConflict(refused) || attempt == attempts {
			return current, wrap(refused)
		}
		fresh, err := objects.Get(ctx, key, metav1.GetOptions{})
		switch {
		case err != nil:
			return current, wrap(err)
		case fresh.GetUID() != uid:
			return current, wrap(ErrReplaced)
		case fresh.GetResourceVersion() == current.GetResourceVersion():
			// the object has not changed, so the refusal has another reason
			return current, wrap(refused)
		}
		current = fresh
	}
}
