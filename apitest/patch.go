package apitest

import (
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

func (s *Server) patch(w http.ResponseWriter, req *Request) error {
	if isApply(req.mediaType()) {
		return s.apply(w, req)
	}
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	apply, err := patcher(req)
	if err != nil {
		return err
	}
	rev, err := s.modify(req.res, req.key(), req.dryRun(), func(old *storage.Revision) (Object, error) {
		patched, err := apply(wire.Format{}.AppendObject(nil, old))
		if err != nil {
			return nil, err
		}
		obj, err := req.res.DecodeJSON(patched, req.query.Get("fieldValidation") == "Strict")
		if err != nil {
			return nil, err
		}
		if apiobject.Key(obj) != old.Key {
			return nil, wire.NewOtherName(obj.GetName(), old.Key.Name)
		}
		dropDuplicateOwners(w, obj, " after mutating admission happens")
		return s.mergeWrite(req, old, obj)
	})
	if err != nil {
		return err
	}
	f.WriteStored(w, http.StatusOK, rev)
	return nil
}

// patcher reads the patch of a request. It returns a function that applies the patch to an object
// in JSON.
func patcher(req *Request) (func(doc []byte) ([]byte, error), error) {
	patch, err := req.body()
	if err != nil {
		return nil, err
	}
	switch mediaType := types.PatchType(req.mediaType()); {
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
	case mediaType == types.StrategicMergePatchType && req.res.GoType != nil:
		return func(doc []byte) ([]byte, error) { return strategicMergePatch(doc, patch, req.res.GoType) }, nil
	}
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType)}
	if req.res.GoType != nil {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	accepted = append(accepted, string(types.ApplyYAMLPatchType))
	return nil, wire.NewUnsupportedMediaType(strings.Join(accepted, ", "))
}
