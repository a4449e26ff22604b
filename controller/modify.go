package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxModifyAttempts is the maximum number of attempts of Modify after conflicts.
const maxModifyAttempts = 6

// Modify changes an object on the server. It calls the function change with a copy of the cached
// object, and updates the object. After a conflict, Modify reads the object from the server and
// begins again, so that the function may be called several times. It makes six attempts at most.
//
// If the function leaves the object unchanged, Modify sends nothing. If the function fails, Modify
// returns its error, and writes nothing. If the object does not exist, the error is NotFound.
func (c *Client[T]) Modify(ctx context.Context, key types.NamespacedName, change func(T) error) (T, error) {
	return c.modify(ctx, key, change, c.Update)
}

// ModifyStatus is Modify for the status. ModifyStatus does not write changes of other fields.
func (c *Client[T]) ModifyStatus(ctx context.Context, key types.NamespacedName, change func(T) error) (T, error) {
	return c.modify(ctx, key, change, c.UpdateStatus)
}

func (c *Client[T]) modify(ctx context.Context, key types.NamespacedName, change func(T) error, write func(context.Context, T) (T, error)) (none T, err error) {
	if c.optsErr != nil {
		return none, c.optsErr
	}
	old, known := c.Get(key)
	for attempt := 1; ; attempt++ {
		if !known {
			if old, err = c.server.Get(ctx, key, metav1.GetOptions{}); err != nil {
				return none, err
			}
		}
		changed, err := copyOf(old)
		if err != nil {
			return none, err
		}
		if err := change(changed); err != nil {
			return none, err
		}
		if equality.Semantic.DeepEqual(old, changed) {
			return changed, nil
		}
		written, err := write(ctx, changed)
		if !apierrors.IsConflict(err) || attempt == maxModifyAttempts {
			return written, err
		}
		known = false
		if err := sleep(ctx, rand.N(time.Duration(attempt)*20*time.Millisecond)); err != nil {
			return none, err
		}
	}
}

// Merge sends the difference between two states of an object as a JSON merge patch (RFC 7386).
// Fields that are equal in both states stay as they are on the server, even if other clients have
// changed them. A list that differs is replaced whole. The argument from must have the object's
// name. It may be a cached object, and is not changed. If there is no difference, Merge sends
// nothing, and returns the argument to.
//
// The server detects a conflict only if the argument to has a resourceVersion, and the argument
// from has another one.
func (c *Client[T]) Merge(ctx context.Context, from, to T, subresources ...string) (T, error) {
	patch, err := mergePatch(from, to)
	if err != nil || patch == nil {
		return to, err
	}
	return c.Patch(ctx, keyOf(from), types.MergePatchType, patch, subresources...)
}

// mergePatch returns the merge patch that changes the value from into the value to, or nil if they
// are equal.
func mergePatch(from, to any) ([]byte, error) {
	var states [2]map[string]any
	for n, object := range []any{from, to} {
		data, err := json.Marshal(object)
		if err == nil {
			exact := json.NewDecoder(bytes.NewReader(data))
			exact.UseNumber()
			err = exact.Decode(&states[n])
		}
		if err != nil {
			return nil, fmt.Errorf("controller: a merge patch of %T: %w", object, err)
		}
	}
	patch := difference(states[0], states[1])
	if len(patch) == 0 {
		return nil, nil
	}
	return json.Marshal(patch)
}

// difference returns the merge patch between two objects. A null in the patch deletes a field.
func difference(from, to map[string]any) map[string]any {
	patch := map[string]any{}
	for name, value := range to {
		was, had := from[name]
		deeper, isObject := value.(map[string]any)
		wasDeeper, wasObject := was.(map[string]any)
		switch {
		case isObject && wasObject:
			if inner := difference(wasDeeper, deeper); len(inner) > 0 {
				patch[name] = inner
			}
		case !had || !reflect.DeepEqual(was, value):
			patch[name] = value
		}
	}
	for name := range from {
		if _, has := to[name]; !has {
			patch[name] = nil
		}
	}
	return patch
}

var errNotCopied = errors.New("controller: copying an object without a method DeepCopy through JSON")

// copyOf copies an object with its generated method DeepCopy, or through JSON if the type has no
// such method.
func copyOf[T metav1.Object](object T) (T, error) {
	if copier, ok := any(object).(interface{ DeepCopy() T }); ok {
		return copier.DeepCopy(), nil
	}
	copied := reflect.New(reflect.TypeFor[T]())
	data, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(data, copied.Interface())
	}
	if err != nil {
		return object, errors.Join(errNotCopied, err)
	}
	return copied.Elem().Interface().(T), nil
}

// sleep waits for d. If ctx ends first, sleep returns the cause of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
