package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest/internal/admission"
	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/managedfields"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// apply handles a server-side apply. The body has the fields that the manager wants the object to
// have. If the object does not exist, apply creates it.
func (s *Server) apply(w http.ResponseWriter, req *Request) error {
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	wanted, err := req.decodeApplyBody(req.res)
	if err != nil {
		return err
	}
	rev, code, err := s.applyObject(req, wanted)
	if err != nil {
		return err
	}
	f.WriteStored(w, code, rev)
	return nil
}

// applyObject stores the object after an apply. It returns code 201 if the object was created, and
// otherwise 200.
func (s *Server) applyObject(req *Request, wanted apiobject.Document) (*storage.Revision, int, error) {
	for {
		old, code := s.store.Get(req.res, req.key()), http.StatusOK
		if old == nil {
			code = http.StatusCreated
		}
		rev, err := s.applyOnce(req, old, wanted)
		if errors.Is(err, storage.ErrStale) || old == nil && apierrors.IsAlreadyExists(err) {
			continue // Another write came first.
		}
		return rev, code, err
	}
}

// decodeApplyBody reads the body of an apply to a resource.
func (r *Request) decodeApplyBody(of *storage.Resource) (apiobject.Document, error) {
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	var wanted apiobject.Document
	err = yaml.UnmarshalStrict(body, &wanted)
	if err == nil {
		var data []byte
		if data, err = yaml.YAMLToJSON(body); err == nil {
			wanted = nil
			err = utiljson.Unmarshal(data, &wanted) // It decodes integers as int64.
		}
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	object := unstructured.Unstructured{Object: wanted}
	if has := object.GetName(); has != "" && has != r.Name {
		return nil, wire.NewOtherName(has, r.Name)
	}
	if has := object.GetNamespace(); has != "" && has != r.Namespace {
		return nil, wire.NewOtherNamespace()
	}
	if meta, _ := wanted["metadata"].(apiobject.Document); meta["managedFields"] != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	if kind := schema.FromAPIVersionAndKind(object.GetAPIVersion(), object.GetKind()); kind != of.GVK {
		return nil, apierrors.NewBadRequest("invalid object type: " + kind.String())
	}
	return wanted, nil
}

// applyOnce applies the document wanted to the revision old once, and stores the result. The
// argument old is nil if the object does not exist.
func (s *Server) applyOnce(req *Request, old *storage.Revision, wanted apiobject.Document) (*storage.Revision, error) {
	if old == nil && req.Subresource != "" {
		return nil, apierrors.NewNotFound(req.res.GroupResource(), req.Name)
	}
	var live apiobject.Document
	var owned []metav1.ManagedFieldsEntry
	if old != nil {
		before := old.Object()
		owned = before.GetManagedFields()
		live = req.res.Document(before)
	} else if err := req.checkCreatable(&unstructured.Unstructured{Object: wanted}); err != nil {
		return nil, err
	} else if err := s.authorizeCreate(req); err != nil {
		return nil, err
	}
	op := req.operation()
	op.Force = boolParam(req.query, "force")
	merged, entries, err := req.res.MergeType().Apply(live, wanted, owned, op)
	if err != nil {
		return nil, err
	}
	obj, err := req.res.DecodeJSON(apiobject.MustJSON(merged), false)
	if err != nil {
		return nil, err
	}
	obj.SetNamespace(req.Namespace)
	obj.SetName(req.Name)
	if old == nil {
		setManagedFields(obj, entries)
		if req.res.Status {
			apiobject.ClearStatus(obj)
		}
		return s.insertChecked(req.res, obj, req.dryRun(), admission.ValidateNew)
	}
	if obj, err = merge(req, old.Object(), obj); err != nil {
		return nil, err
	}
	setManagedFields(obj, entries)
	return s.replace(req.res, old, obj, req.dryRun())
}

// checkCreatable returns why an apply cannot create the object, or nil.
func (r *Request) checkCreatable(wanted *unstructured.Unstructured) error {
	if uid := wanted.GetUID(); uid != "" {
		return apierrors.NewConflict(r.res.GroupResource(), r.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if wanted.GetName() == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	return nil
}

// trackManagedFields records which fields of obj the request sets. Call trackManagedFields before
// obj replaces the revision old, which is nil for a new object. A field that a subresource does not
// write gets no owner. If the fields cannot be determined, for example because the metadata is
// invalid, obj loses its managed fields. The write itself does not fail, as on the real server.
func (s *Server) trackManagedFields(req *Request, old *storage.Revision, obj Object) {
	owned := obj.GetManagedFields()
	if isReset(owned) {
		owned = nil
	}
	if !s.opts.ManagedFields && !everApplied(owned) {
		return
	}
	before := req.res.New()
	if old != nil {
		if len(owned) == 0 {
			return // The managed fields cannot be decoded.
		}
		before = old.Object()
	}
	entries, err := req.res.MergeType().Update(req.res.Document(before), req.res.Document(obj), owned, req.operation())
	if err != nil {
		entries = nil
	}
	setManagedFields(obj, entries)
}

// keepManagedFields copies the managed fields of the live object to the sent object, unless the
// sent object has valid managed fields of its own. The argument live is nil if the object does not
// exist.
func keepManagedFields(sent, live Object) {
	own, was := sent.GetManagedFields(), []metav1.ManagedFieldsEntry(nil)
	if live != nil {
		was = live.GetManagedFields()
	}
	if isReset(own) || apiobject.Equal(own, was) || len(own) > 0 && managedfields.Decodable(own) {
		return
	}
	sent.SetManagedFields(was)
}

// setManagedFields sets the managed fields with which an object is stored, even if entries is
// empty.
func setManagedFields(obj Object, entries []metav1.ManagedFieldsEntry) {
	if len(entries) == 0 {
		entries = []metav1.ManagedFieldsEntry{{}}
	}
	obj.SetManagedFields(entries)
}

// isReset reports whether managed fields request a reset: a list without entries, or with one empty
// entry. Without any list, the managed fields stay as they are.
func isReset(owned []metav1.ManagedFieldsEntry) bool {
	return owned != nil && len(owned) == 0 || len(owned) == 1 && owned[0] == (metav1.ManagedFieldsEntry{})
}

func everApplied(owned []metav1.ManagedFieldsEntry) bool {
	for _, e := range owned {
		if e.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}

// operation returns the operation of the request, with the name of its field manager. The manager
// defaults to the program's name in the User-Agent header.
func (r *Request) operation() managedfields.Operation {
	name := r.query.Get("fieldManager")
	if name == "" {
		program, _, _ := strings.Cut(r.HTTP.UserAgent(), "/")
		for _, c := range program {
			if unicode.IsPrint(c) && len(name)+utf8.RuneLen(c) <= metav1validation.FieldManagerMaxLength {
				name += string(c)
			}
		}
	}
	apiVersion, _ := r.res.GVK.ToAPIVersionAndKind()
	return managedfields.Operation{Manager: name, APIVersion: apiVersion, Subresource: r.Subresource, HasStatus: r.res.Status}
}

// isApply reports whether a patch is a server-side apply.
func isApply(mediaType string) bool { return types.PatchType(mediaType) == types.ApplyYAMLPatchType }
