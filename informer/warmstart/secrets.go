package warmstart

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// isSecretType says whether objects of a type are Secrets, whatever they say of
// themselves.
func isSecretType(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() == "Secret" && strings.HasSuffix(t.PkgPath(), "k8s.io/api/core/v1")
}

// ofSecrets says whether a source has described itself as one of Secrets, in all or in
// a part of what it merges.
func ofSecrets(source map[string]string) bool {
	return says(source, "resource", "/v1/secrets")
}

// identifies says whether a description tells a cluster from all others.
func identifies(source map[string]string) bool {
	return len(source) > 0 && !says(source, "cluster", "")
}

// says looks for what a source says of itself, or a part of it, which is quoted in the
// description of the whole, once for each level. A selector that has the same text is
// taken for it, too, which is the safe side.
func says(source map[string]string, name, value string) bool {
	if said, ok := source[name]; ok && said == value {
		return true
	}
	for key, part := range source {
		if strings.HasPrefix(key, "part ") && strings.Contains(strings.ReplaceAll(part, `\`, ""), fmt.Sprintf("%s=%q", name, value)) {
			return true
		}
	}
	return false
}

// allowed returns an error for an object that says of itself that it is a Secret, as
// unstructured ones do, unless Secrets are asked for.
func (f *File[T]) allowed(key types.NamespacedName, object T) error {
	if f.opts.Secrets {
		return nil
	}
	if o, ok := any(object).(interface{ GetObjectKind() schema.ObjectKind }); ok && isSecret(o.GetObjectKind()) {
		return fmt.Errorf("%w: %s is one", ErrSecrets, key)
	}
	return nil
}

func isSecret(kind schema.ObjectKind) bool {
	gvk := kind.GroupVersionKind()
	return gvk.Group == "" && gvk.Kind == "Secret"
}
