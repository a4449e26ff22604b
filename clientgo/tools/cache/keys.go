package cache

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KeyFunc returns the key of an object in a store or a queue. It must return the same key for all
// states of an object.
type KeyFunc func(obj interface{}) (string, error)

// KeyError is the error of an operation whose key function has failed. It wraps the key function's
// error.
type KeyError struct {
	Obj interface{}
	Err error
}

// Error returns a text with the object and the reason.
func (k KeyError) Error() string {
	return fmt.Sprintf("couldn't create key for object %+v: %v", k.Obj, k.Err)
}

// Unwrap returns the key function's error.
func (k KeyError) Unwrap() error { return k.Err }

// ExplicitKey is a key that can be passed in place of an object, for example to Delete.
type ExplicitKey string

// MetaNamespaceKeyFunc returns "namespace/name", or "name" for an object without a namespace. For
// an [ExplicitKey] it returns the key itself.
func MetaNamespaceKeyFunc(obj interface{}) (string, error) {
	if key, ok := obj.(ExplicitKey); ok {
		return string(key), nil
	}
	name, err := ObjectToName(obj)
	if err != nil {
		return "", err
	}
	return name.String(), nil
}

// DeletionHandlingMetaNamespaceKeyFunc is MetaNamespaceKeyFunc for the argument of OnDelete. For a
// [DeletedFinalStateUnknown] it returns the field Key.
func DeletionHandlingMetaNamespaceKeyFunc(obj interface{}) (string, error) {
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	return MetaNamespaceKeyFunc(obj)
}

// ObjectToName returns the namespace and name of an object with metadata.
func ObjectToName(obj interface{}) (ObjectName, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return ObjectName{}, fmt.Errorf("object has no meta: %w", err)
	}
	return MetaObjectToName(accessor), nil
}

// DeletionHandlingObjectToName is ObjectToName for the argument of OnDelete. For a
// [DeletedFinalStateUnknown] it parses the field Key.
func DeletionHandlingObjectToName(obj interface{}) (ObjectName, error) {
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return ParseObjectName(tombstone.Key)
	}
	return ObjectToName(obj)
}

// MetaObjectToName returns the namespace and name of an object.
func MetaObjectToName(obj metav1.Object) ObjectName {
	return ObjectName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// SplitMetaNamespaceKey is the reverse of [MetaNamespaceKeyFunc]. A key with more than one slash is
// an error.
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	before, after, found := strings.Cut(key, "/")
	switch {
	case !found:
		return "", key, nil
	case strings.Contains(after, "/"):
		return "", "", fmt.Errorf("unexpected key format: %q", key)
	}
	return before, after, nil
}

// IndexFuncToKeyFuncAdapter makes a key function of an index function that returns one value per
// object. The key function returns an error for no value or several values.
func IndexFuncToKeyFuncAdapter(indexFunc IndexFunc) KeyFunc {
	return func(obj interface{}) (string, error) {
		values, err := indexFunc(obj)
		switch {
		case err != nil:
			return "", err
		case len(values) > 1:
			return "", fmt.Errorf("too many keys: %v", values)
		case len(values) == 0:
			return "", errors.New("unexpected empty indexKeys")
		}
		return values[0], nil
	}
}
