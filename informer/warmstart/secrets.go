package warmstart

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// isSecretType reports whether a Go type is Secret, whatever kind its objects have.
func isSecretType(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() == "Secret" && strings.HasSuffix(t.PkgPath(), "k8s.io/api/core/v1")
}

// isSecretSource reports whether a source describes itself as a source of Secrets, as a whole or in
// one of its merged parts.
func isSecretSource(source map[string]string) bool {
	return hasValue(source, "resource", "/v1/secrets")
}

// identifies reports whether a description distinguishes a cluster from all others.
func identifies(source map[string]string) bool {
	return len(source) > 0 && !hasValue(source, "cluster", "")
}

// hasValue reports whether a source's description has a value for a name. It also searches the
// descriptions of merged parts, which are quoted once for each level. A selector with the same text
// matches too, which errs on the safe side.
func hasValue(source map[string]string, name, value string) bool {
	if found, ok := source[name]; ok && found == value {
		return true
	}
	for key, part := range source {
		if strings.HasPrefix(key, "part ") && strings.Contains(strings.ReplaceAll(part, `\`, ""), fmt.Sprintf("%s=%q", name, value)) {
			return true
		}
	}
	return false
}

// checkAllowed returns an error for an object that is a Secret by its own kind, as unstructured
// objects can be, unless Secrets is set.
func (f *File[T]) checkAllowed(key types.NamespacedName, object T) error {
	if f.opts.Secrets {
		return nil
	}
	if o, ok := any(object).(interface{ GetObjectKind() schema.ObjectKind }); ok && isSecret(o.GetObjectKind()) {
		return fmt.Errorf("%w: %s is a Secret", ErrSecrets, key)
	}
	return nil
}

func isSecret(kind schema.ObjectKind) bool {
	gvk := kind.GroupVersionKind()
	return gvk.Group == "" && gvk.Kind == "Secret"
}
