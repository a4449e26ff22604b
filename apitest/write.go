package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/admission"
	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

func (s *Server) get(w http.ResponseWriter, req *Request) error {
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	rev := s.store.Get(req.res, req.key())
	if rev == nil {
		return apierrors.NewNotFound(req.res.GroupResource(), req.Name)
	}
	f.WriteObject(w, http.StatusOK, rev)
	return nil
}

func (s *Server) create(w http.ResponseWriter, req *Request) error {
	if req.Subresource != "" {
		return wire.NewMethodNotAllowed()
	}
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	obj, err := req.object()
	if err != nil {
		return err
	}
	dropDuplicateOwners(w, obj, "")
	rev, err := s.createObject(req, obj)
	if err != nil {
		return err
	}
	f.WriteStored(w, http.StatusCreated, rev)
	return nil
}

// createObject creates an object. The store owns obj afterwards.
func (s *Server) createObject(req *Request, obj Object) (*storage.Revision, error) {
	if req.res.Status {
		apiobject.ClearStatus(obj)
	}
	keepManagedFields(obj, nil)
	s.trackManagedFields(req, nil, obj)
	return s.insertChecked(req.res, obj, req.dryRun(), admission.ValidateNew)
}

func (s *Server) update(w http.ResponseWriter, req *Request) error {
	f, err := req.negotiate()
	if err != nil {
		return err
	}
	sent, err := req.object()
	if err != nil {
		return err
	}
	if sent.GetName() != req.Name {
		return wire.NewOtherName(sent.GetName(), req.Name)
	}
	if !req.res.Protobuf() && sent.GetResourceVersion() == "" {
		return apierrors.NewInvalid(schema.GroupKind{Group: req.Group, Kind: req.Resource}, req.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
		})
	}
	dropDuplicateOwners(w, sent, "")
	rev, code, err := s.updateObject(req, sent)
	if err != nil {
		return err
	}
	f.WriteStored(w, code, rev)
	return nil
}

// updateObject stores an object that a client has sent. If the object is missing, and the real
// server would create objects of this type, updateObject creates it. The returned code is 201 if
// the object was created, and otherwise 200.
func (s *Server) updateObject(req *Request, sent Object) (*storage.Revision, int, error) {
	for {
		rev, err := s.modify(req.res, req.key(), req.dryRun(), func(old *storage.Revision) (Object, error) {
			return s.mergeWrite(req, old, sent.DeepCopyObject().(Object))
		})
		if !apierrors.IsNotFound(err) || req.res.Flags&storage.CreateOnUpdate == 0 || req.Subresource != "" {
			return rev, http.StatusOK, err
		}
		if uid := sent.GetUID(); uid != "" {
			return nil, 0, errOtherUID(req.res, req.Name, uid, "")
		}
		if err := s.authorizeCreate(req); err != nil {
			return nil, 0, err
		}
		obj := sent.DeepCopyObject().(Object)
		obj.SetResourceVersion("") // The version belongs to a deleted object of the same name.
		if rev, err = s.createObject(req, obj); !apierrors.IsAlreadyExists(err) {
			return rev, http.StatusCreated, err
		}
	}
}

// authorizeCreate returns an error if the user may not create the object. A user with the verb
// update or patch may lack the verb create.
func (s *Server) authorizeCreate(req *Request) error {
	create := attributesOf(req)
	create.verb = "create"
	return s.authorize(req.user, create)
}

// dropDuplicateOwners removes repeated owner references from an object, and adds a warning with the
// real server's text. The argument when becomes part of the warning.
func dropDuplicateOwners(w http.ResponseWriter, obj Object, when string) {
	var owners []metav1.OwnerReference
	var repeated []string
	for _, ref := range obj.GetOwnerReferences() {
		if slices.ContainsFunc(owners, func(has metav1.OwnerReference) bool { return apiobject.Equal(has, ref) }) {
			repeated = append(repeated, string(ref.UID))
		} else {
			owners = append(owners, ref)
		}
	}
	if repeated == nil {
		return
	}
	obj.SetOwnerReferences(owners)
	header, err := utilnet.NewWarningHeader(299, "-", ".metadata.ownerReferences contains duplicate entries"+when+"; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "+strings.Join(repeated, ", "))
	if err == nil { // err is not nil if a UID is invalid.
		w.Header().Set("Warning", header)
	}
}

// errOtherUID returns the error for a write with the UID of another object of the same name.
func errOtherUID(res *storage.Resource, name string, want, is types.UID) error {
	//lint:ignore ST1005 The words are the real server's.
	return apierrors.NewConflict(res.GroupResource(), name, fmt.Errorf(
		"Precondition failed: UID in precondition: %s, UID in object meta: %s", want, is))
}

// mergeWrite returns the new state of a stored object after a write, with its managed fields. It
// may change the argument sent.
func (s *Server) mergeWrite(req *Request, old *storage.Revision, sent Object) (Object, error) {
	obj, err := merge(req, old.Object(), sent)
	if err != nil {
		return nil, err
	}
	s.trackManagedFields(req, old, obj)
	return obj, nil
}

// insert creates an object and sets all fields that the server sets at a creation. The store owns
// obj afterwards. insert checks only the name, because the server has already checked requests of
// clients.
func (s *Server) insert(res *storage.Resource, obj Object, dryRun bool) (*storage.Revision, error) {
	return s.insertChecked(res, obj, dryRun, admission.ValidateName)
}

// insertChecked is like insert, and calls the function check first.
func (s *Server) insertChecked(res *storage.Resource, obj Object, dryRun bool, check func(*storage.Resource, Object) error) (*storage.Revision, error) {
	if isReset(obj.GetManagedFields()) {
		obj.SetManagedFields(nil)
	}
	if obj.GetResourceVersion() != "" && !dryRun {
		// The storage makes this check, and so a dry run skips it.
		return nil, errors.New("resourceVersion should not be set on objects to be created")
	}
	generate := obj.GetName() == "" && obj.GetGenerateName() != ""
	for attempt := 1; ; attempt++ {
		if generate {
			s.generateName(obj)
		}
		rev, err := s.insertNamed(res, obj, dryRun, check)
		switch {
		case !errors.Is(err, storage.ErrStale):
			return rev, err
		case generate && attempt < generateAttempts:
			obj.SetResourceVersion("")
		case obj.GetGenerateName() != "":
			return nil, apierrors.NewGenerateNameConflict(res.GroupResource(), obj.GetName(), 1)
		default:
			return nil, apierrors.NewAlreadyExists(res.GroupResource(), obj.GetName())
		}
	}
}

// insertNamed creates an object with a name. It returns storage.ErrStale if the object exists.
func (s *Server) insertNamed(res *storage.Resource, obj Object, dryRun bool, check func(*storage.Resource, Object) error) (*storage.Revision, error) {
	if ns, ok := obj.(*corev1.Namespace); ok && ns.Name != "" {
		// for selectors
		ns.Labels = mergeMaps(ns.Labels, map[string]string{corev1.LabelMetadataName: ns.Name})
	}
	if err := check(res, obj); err != nil {
		return nil, err
	}
	if err := res.Schema.CheckObject(res.GVK.GroupKind(), obj); err != nil {
		return nil, err
	}
	obj.SetUID(s.ids.uid())
	obj.SetCreationTimestamp(apiobject.Now())
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	if apiobject.Spec(obj, res.Status) != nil {
		obj.SetGeneration(1)
	}
	return s.put(res, nil, obj, dryRun)
}

// modify replaces the object with this key by the result of the function change. It calls change
// again if another write comes first.
func (s *Server) modify(res *storage.Resource, key types.NamespacedName, dryRun bool, change func(*storage.Revision) (Object, error)) (*storage.Revision, error) {
	return s.retry(res, key, change, func(old *storage.Revision, obj Object) (*storage.Revision, error) {
		return s.replace(res, old, obj, dryRun)
	})
}

// modifyUnchecked is like modify, for writes that the server makes itself. It does not check the
// write, does not increase the generation, and never removes the object.
func (s *Server) modifyUnchecked(res *storage.Resource, key types.NamespacedName, dryRun bool, change func(*storage.Revision) (Object, error)) (*storage.Revision, error) {
	return s.retry(res, key, change, func(old *storage.Revision, obj Object) (*storage.Revision, error) {
		switch {
		case old.Equals(obj):
			return old, nil
		case dryRun:
			return storage.NewRevision(res, obj, old.Version)
		}
		return s.store.Put(res, old, obj)
	})
}

// retry calls the functions change and write for the object with this key. If another writer comes
// first, it calls both again.
func (s *Server) retry(res *storage.Resource, key types.NamespacedName, change func(*storage.Revision) (Object, error), write func(*storage.Revision, Object) (*storage.Revision, error)) (*storage.Revision, error) {
	for {
		old := s.store.Get(res, key)
		if old == nil {
			return nil, apierrors.NewNotFound(res.GroupResource(), key.Name)
		}
		obj, err := change(old)
		if err != nil {
			return nil, err
		}
		if rev, err := write(old, obj); !errors.Is(err, storage.ErrStale) {
			return rev, err
		}
	}
}

// replace replaces the revision old by obj. The store owns obj afterwards. If obj has a
// resourceVersion, it must be the version of old. Fields that only the server sets keep their
// values. If an object that is being deleted loses its last finalizer, replace removes it. If
// nothing changes, nothing is written.
func (s *Server) replace(res *storage.Resource, old *storage.Revision, obj Object, dryRun bool) (*storage.Revision, error) {
	cur := old.Object()
	if v := obj.GetResourceVersion(); v != "" && v != cur.GetResourceVersion() {
		return nil, apierrors.NewConflict(res.GroupResource(), old.Key.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	if uid := obj.GetUID(); uid != "" && uid != cur.GetUID() {
		return nil, errOtherUID(res, old.Key.Name, uid, cur.GetUID())
	}
	if added := admission.AddedFinalizers(cur, obj); len(added) > 0 {
		return nil, apierrors.NewInvalid(res.GVK.GroupKind(), old.Key.Name, field.ErrorList{field.Forbidden(field.NewPath("metadata", "finalizers"),
			fmt.Sprintf("no new finalizers can be added if the object is being deleted, found new finalizers %#v", added))})
	}
	obj.SetUID(cur.GetUID())
	obj.SetCreationTimestamp(cur.GetCreationTimestamp())
	obj.SetDeletionTimestamp(cur.GetDeletionTimestamp())
	obj.SetDeletionGracePeriodSeconds(cur.GetDeletionGracePeriodSeconds())
	obj.SetSelfLink("")
	switch owned := obj.GetManagedFields(); {
	case isReset(owned):
		obj.SetManagedFields(nil)
	case len(owned) == 0:
		obj.SetManagedFields(cur.GetManagedFields())
	}
	obj.SetGeneration(cur.GetGeneration())
	if !apiobject.Equal(apiobject.Spec(cur, res.Status), apiobject.Spec(obj, res.Status)) {
		obj.SetGeneration(cur.GetGeneration() + 1)
	}
	if err := res.Schema.CheckUpdate(res.GVK.GroupKind(), cur, obj); err != nil {
		return nil, err
	}
	switch {
	case old.Equals(obj):
		return old, nil
	case !dryRun && obj.GetDeletionTimestamp() != nil && !admission.HasFinalizers(obj) && apiobject.Deref(obj.GetDeletionGracePeriodSeconds(), 0) == 0:
		last, err := s.removeStored(res, old)
		if err != nil {
			return nil, err
		}
		// The writer must get its own write, even if a later write exists.
		return storage.NewRevision(res, obj, last.Version)
	}
	return s.put(res, old, obj, dryRun)
}

// put replaces the revision old by obj; old is nil for a new object. If obj is a CRD, put also
// serves the defined resources. A dry run makes the same checks, and stores nothing.
func (s *Server) put(res *storage.Resource, old *storage.Revision, obj Object, dryRun bool) (*storage.Revision, error) {
	switch {
	case res.GVK == crd.Kind:
		return s.putCRD(res, old, obj, dryRun)
	case dryRun:
		return s.dryRunResult(res, old, obj)
	}
	return s.store.Put(res, old, obj)
}

// dryRunResult returns the result of a dry run, without storing obj.
func (s *Server) dryRunResult(res *storage.Resource, old *storage.Revision, obj Object) (*storage.Revision, error) {
	switch {
	case old != nil:
		return storage.NewRevision(res, obj, old.Version)
	case s.store.Get(res, apiobject.Key(obj)) != nil:
		return nil, storage.ErrStale
	}
	return storage.NewRevision(res, obj, 0)
}
