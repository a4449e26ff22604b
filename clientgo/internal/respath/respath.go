// Package respath builds the paths and bodies of requests for the clients without types (dynamic,
// metadata, scale).
package respath

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Of returns the path segments of an object, or of the collection if the name is empty.
func Of(resource schema.GroupVersionResource, namespace, name string, subresources ...string) []string {
	segments := []string{"api"}
	if resource.Group != "" {
		segments = []string{"apis", resource.Group}
	}
	segments = append(segments, resource.Version)
	if namespace != "" {
		segments = append(segments, "namespaces", namespace)
	}
	segments = append(segments, resource.Resource)
	if name != "" {
		segments = append(segments, name)
	}
	return append(segments, subresources...)
}

// Check returns an error if namespace or name is not valid as a path segment, or if the name is
// empty.
func Check(namespace, name string) error {
	if name == "" {
		return errors.New("name is required")
	}
	return CheckCollection(namespace, name)
}

// CheckCollection is Check for a request whose name may be empty.
func CheckCollection(namespace, name string) error {
	if wrong := content.IsPathSegmentName(namespace); namespace != "" && len(wrong) > 0 {
		return fmt.Errorf("invalid namespace %q: %s", namespace, strings.Join(wrong, ", "))
	}
	if wrong := content.IsPathSegmentName(name); name != "" && len(wrong) > 0 {
		return fmt.Errorf("invalid resource name %q: %s", name, strings.Join(wrong, ", "))
	}
	return nil
}

// Body returns the body of a delete request: its options, with kind and version.
func Body(opts metav1.DeleteOptions) ([]byte, error) {
	opts.TypeMeta = metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "v1"}
	body, err := json.Marshal(opts)
	return append(body, '\n'), err
}
