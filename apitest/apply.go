package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest/internal/managedfields"
)

// apply is server-side apply: the body says what the object has to have, as far as the one
// who sends it is concerned. It creates the object if there is none.
func (s *Server) apply(w http.ResponseWriter, req *Request) error {
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	if req.query.Get("fieldManager") == "" {
		return apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "PatchOptions"}, "", field.ErrorList{
			field.Required(field.NewPath("fieldManager"), "is required for apply patch"),
		})
	}
	wanted, err := req.configuration()
	if err != nil {
		return err
	}
	for {
		old := s.store.get(req.res, req.key())
		rev, err := s.applied(req, old, wanted)
		switch {
		case errors.Is(err, errStale), old == nil && apierrors.IsAlreadyExists(err):
			continue // Somebody was faster.
		case err != nil:
			return err
		case old == nil:
			f.writeObject(w, http.StatusCreated, rev)
		default:
			f.writeObject(w, http.StatusOK, rev)
		}
		return nil
	}
}

// configuration reads what an apply wants.
func (r *Request) configuration() (document, error) {
	body, err := r.body()
	if err != nil {
		return nil, err
	}
	var wanted document
	err = yaml.UnmarshalStrict(body, &wanted)
	if err == nil {
		var data []byte
		if data, err = yaml.YAMLToJSON(body); err == nil {
			wanted = nil
			err = utiljson.Unmarshal(data, &wanted) // Whole numbers stay whole.
		}
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	meta, _ := wanted["metadata"].(document)
	for what, value := range map[string]string{"name": r.Name, "namespace": r.Namespace} {
		if has := orNothing(meta[what]); has != "" && has != value {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the %s of the object (%s) does not match the %s on the URL (%s)", what, has, what, value))
		}
	}
	if meta["managedFields"] != nil {
		return nil, apierrors.NewBadRequest("metadata.managedFields must be nil")
	}
	apiVersion, kind := r.res.gvk.ToAPIVersionAndKind()
	if wanted["apiVersion"] != apiVersion || wanted["kind"] != kind {
		return nil, apierrors.NewBadRequest("invalid object type: " + schema.FromAPIVersionAndKind(orNothing(wanted["apiVersion"]), orNothing(wanted["kind"])).String())
	}
	return wanted, nil
}

func orNothing(v any) string {
	text, _ := v.(string)
	return text
}

// applied stores what old becomes, which may be nil, when somebody wants it to have something.
func (s *Server) applied(req *Request, old *revision, wanted document) (*revision, error) {
	if old == nil && req.Subresource != "" {
		return nil, apierrors.NewNotFound(req.res.groupResource(), req.Name)
	}
	var live document
	var owned []metav1.ManagedFieldsEntry
	if old != nil {
		before := old.object()
		owned = before.GetManagedFields()
		live = req.res.document(before)
	} else if meta, _ := wanted["metadata"].(document); orNothing(meta["uid"]) != "" {
		return nil, apierrors.NewConflict(req.res.groupResource(), req.Name, fmt.Errorf("uid mismatch: the provided object specified uid %v, and no existing object was found", meta["uid"]))
	}
	op := req.operation()
	op.Force = truth(req.query, "force")
	merged, entries, err := req.res.mergeType().Apply(live, wanted, owned, op)
	if err != nil {
		return nil, err
	}
	obj, err := req.res.decodeJSON(mustJSON(merged), false)
	if err != nil {
		return nil, err
	}
	setManagedFields(obj, entries)
	obj.SetNamespace(req.Namespace)
	obj.SetName(req.Name)
	if old == nil {
		if req.res.Status {
			clearStatus(obj)
		}
		return s.insertChecked(req.res, obj, req.dryRun(), req.res.validateNew)
	}
	if obj, err = merge(req, old.object(), obj); err != nil {
		return nil, err
	}
	return s.replace(req.res, old, obj, req.dryRun())
}

// track notes in an object which of its fields the request sets. live is what it replaces,
// nil if it is new.
func (s *Server) track(req *Request, live, sent Object) error {
	var owned []metav1.ManagedFieldsEntry
	before := document{}
	if live != nil {
		owned = live.GetManagedFields()
		before = req.res.document(live)
	}
	own := sent.GetManagedFields()
	switch {
	case req.Subresource != "": // which leaves alone who owns what
	case isReset(own):
		owned = nil
	case len(own) > 0 && managedfields.Readable(own):
		owned = own
	}
	if !s.opts.ManagedFields && !everApplied(owned) {
		return nil
	}
	entries, err := req.res.mergeType().Update(before, req.res.document(sent), owned, req.operation())
	if err == nil {
		setManagedFields(sent, entries)
	}
	return err
}

// setManagedFields has an object stored with these managed fields, also if there are none.
func setManagedFields(obj Object, entries []metav1.ManagedFieldsEntry) {
	if len(entries) == 0 {
		entries = []metav1.ManagedFieldsEntry{{}}
	}
	obj.SetManagedFields(entries)
}

// isReset reports whether managed fields say that there are to be none: a list of one entry with nothing
// in it, as none at all are left as they are.
func isReset(owned []metav1.ManagedFieldsEntry) bool {
	return len(owned) == 1 && owned[0] == (metav1.ManagedFieldsEntry{})
}

func everApplied(owned []metav1.ManagedFieldsEntry) bool {
	for _, e := range owned {
		if e.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}

// operation says who writes what. Who does not say who he is goes by the name of his program.
func (r *Request) operation() managedfields.Operation {
	name := r.query.Get("fieldManager")
	if name == "" {
		name, _, _ = strings.Cut(r.HTTP.UserAgent(), "/")
		name = name[:min(len(name), 128)]
	}
	apiVersion, _ := r.res.gvk.ToAPIVersionAndKind()
	return managedfields.Operation{Manager: name, APIVersion: apiVersion, Subresource: r.Subresource, HasStatus: r.res.Status}
}

// mergeType is how objects of the resource are merged.
func (r *resource) mergeType() managedfields.Type {
	if r.goType != nil {
		return managedfields.Of(r.goType)
	}
	return managedfields.OfSchema(r.defined.Schema.OpenAPIV3Schema)
}

// document is an object as JSON has it, with its kind.
func (r *resource) document(obj Object) document {
	var doc document
	if err := utiljson.Unmarshal(mustJSON(obj), &doc); err != nil {
		panic("apitest: " + err.Error()) // It has just been written.
	}
	doc["apiVersion"], doc["kind"] = r.gvk.ToAPIVersionAndKind()
	return doc
}

// isApply says that a patch is an apply.
func isApply(mediaType string) bool { return types.PatchType(mediaType) == types.ApplyYAMLPatchType }
