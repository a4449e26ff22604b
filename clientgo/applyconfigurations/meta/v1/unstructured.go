package v1

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations/internal"
	"k8s.io/client-go/discovery"
)

// UnstructuredExtractor returns the fields of an object of any kind that a manager has applied and
// still owns. The objects that it returns always have their kind, name and namespace.
type UnstructuredExtractor interface {
	// Extract returns the fields that fieldManager has applied. It does not change the object, and
	// the result shares nothing with it.
	Extract(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error)
	// ExtractStatus returns the fields that fieldManager has applied to the status subresource.
	ExtractStatus(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error)
}

// NewUnstructuredExtractor returns an extractor. It sends no request, and never fails. client-go
// requests the schema of an object through dc. Here the managed fields of all managers are enough.
func NewUnstructuredExtractor(dc discovery.DiscoveryInterface) (UnstructuredExtractor, error) {
	return extractor{}, nil
}

type extractor struct{}

func (extractor) Extract(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error) {
	return extract(object, fieldManager, "")
}

func (extractor) ExtractStatus(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error) {
	return extract(object, fieldManager, "status")
}

func extract(object *unstructured.Unstructured, fieldManager, subresource string) (*unstructured.Unstructured, error) {
	part, err := internal.Pick(object, fieldManager, subresource)
	if err != nil {
		return nil, err
	}
	if part == nil {
		part = map[string]any{}
	}
	applied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(part)}
	applied.SetAPIVersion(object.GetAPIVersion())
	applied.SetKind(object.GetKind())
	applied.SetName(object.GetName())
	applied.SetNamespace(object.GetNamespace())
	return applied, nil
}
