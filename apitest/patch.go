package apitest

import (
	"net/http"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/patch"
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
	body, err := req.body()
	if err != nil {
		return nil, err
	}
	return patch.Parse(req.mediaType(), body, req.res.GoType)
}
