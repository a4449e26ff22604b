package v1

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations/internal"
	"k8s.io/client-go/discovery"
)

// UnstructuredExtractor finds what a manager has applied to an object of any kind, and owns still. The objects that
// it returns have their kind, name and namespace in any case.
type UnstructuredExtractor interface {
	// Extract returns what fieldManager has applied to the object. It leaves the object as it is, and shares nothing
	// with it.
	Extract(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error)
	// ExtractStatus returns what fieldManager has applied to the status subresource.
	ExtractStatus(object *unstructured.Unstructured, fieldManager string) (*unstructured.Unstructured, error)
}

// NewUnstructuredExtractor returns an extractor. It asks nobody, and never fails: the managed fields of all managers say enough of an
// object's structure, so that its schema, for which client-go asks dc, is not needed.
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
