package patch

import (
	"net/http"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/wire"
)

// Parse returns a function that applies a patch to an object in JSON. goType is the struct of a
// built-in type, and nil for a custom resource, which has no strategic merge patch.
func Parse(mediaType string, patch []byte, goType reflect.Type) (apply func(doc []byte) ([]byte, error), err error) {
	switch mediaType := types.PatchType(mediaType); {
	case mediaType == types.JSONPatchType:
		ops, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			return nil, apierrors.NewBadRequest("JSON patch: " + err.Error())
		}
		return func(doc []byte) ([]byte, error) {
			doc, err := ops.Apply(doc)
			if err != nil {
				return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
			}
			return doc, nil
		}, nil
	case mediaType == types.MergePatchType:
		return func(doc []byte) ([]byte, error) {
			doc, err := jsonpatch.MergePatch(doc, patch)
			if err != nil {
				return nil, apierrors.NewBadRequest("merge patch: " + err.Error())
			}
			return doc, nil
		}, nil
	case mediaType == types.StrategicMergePatchType && goType != nil:
		return func(doc []byte) ([]byte, error) { return strategicMergePatch(doc, patch, goType) }, nil
	}
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if goType != nil {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	accepted = append(accepted, string(types.ApplyYAMLPatchType))
	return nil, wire.NewUnsupportedMediaType(strings.Join(accepted, ", "))
}
