package apitest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/admission"
	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
	"github.com/kinform/kinform/apitest/internal/workloads"
)

func (s *Server) delete(w http.ResponseWriter, req *Request) error {
	f, opts, err := req.parseDeletion()
	if err != nil {
		return err
	}
	rev, gone, err := s.remove(req.res, req.key(), opts)
	if err != nil {
		return err
	}
	if !gone {
		f.WriteObject(w, http.StatusOK, rev)
		return nil
	}
	wire.WriteStatus(w, req.HTTP, wire.WithType(metav1.Status{
		Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name: req.Name, Group: req.res.Group, Kind: req.res.Plural, UID: rev.Object().GetUID(),
		},
	}))
	return nil
}

// deleteCollection deletes all selected objects, and responds with their last states.
func (s *Server) deleteCollection(w http.ResponseWriter, req *Request) error {
	_, opts, err := req.parseDeletion()
	if err != nil {
		return err
	}
	f, sel, err := req.parseCollection()
	if err != nil {
		return err
	}
	p, err := s.page(req.res, sel, req.query)
	if err != nil {
		return err
	}
	for i, rev := range p.Items {
		deleted, _, err := s.remove(req.res, rev.Key, opts)
		switch {
		case apierrors.IsNotFound(err): // another client deleted it first
		case err != nil:
			return err
		default:
			p.Items[i] = deleted
		}
	}
	return f.WriteList(w, req.res, p)
}

// parseDeletion parses a delete or a deletecollection. It returns the format of the response, and
// the options from the body and the query.
func (r *Request) parseDeletion() (wire.Format, metav1.DeleteOptions, error) {
	f, err := r.negotiate()
	if err != nil {
		return f, metav1.DeleteOptions{}, err
	}
	opts, err := r.deleteOptions()
	if policy := metav1.DeletionPropagation(r.query.Get("propagationPolicy")); r.query.Has("propagationPolicy") && opts.PropagationPolicy == nil {
		opts.PropagationPolicy = &policy
	}
	if seconds, bad := strconv.ParseInt(r.query.Get("gracePeriodSeconds"), 10, 64); bad == nil && opts.GracePeriodSeconds == nil {
		opts.GracePeriodSeconds = &seconds
	}
	if dryRun := r.query["dryRun"]; len(opts.DryRun) == 0 {
		opts.DryRun = dryRun
	}
	if err == nil {
		err = wire.NewInvalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(&opts))
	}
	return f, opts, err
}

// remove deletes an object and returns its last state. If finalizers or a terminating pod delay the
// deletion, remove only marks the object as being deleted. It then returns the object's current
// state, and gone is false.
func (s *Server) remove(res *storage.Resource, key types.NamespacedName, opts metav1.DeleteOptions) (rev *storage.Revision, gone bool, err error) {
	for {
		old := s.store.Get(res, key)
		if old == nil {
			return nil, false, apierrors.NewNotFound(res.GroupResource(), key.Name)
		}
		obj := old.Object()
		if err := checkDeletePreconditions(res, obj, opts); err != nil {
			return nil, false, err
		}
		if s.opts.GarbageCollection {
			workloads.SetPropagationFinalizers(res, obj, opts)
		}
		grace, deleting := int64(0), obj.GetDeletionTimestamp() != nil
		if s.opts.RunPods {
			grace = workloads.GracePeriod(obj, opts)
		}
		held := admission.HasFinalizers(obj) || grace > 0
		switch {
		case slices.Contains(opts.DryRun, metav1.DryRunAll), held && deleting && old.Equals(obj):
			return old, !held, nil
		case held:
			if !deleting {
				at := secondsFromNow(grace)
				obj.SetDeletionTimestamp(&at)
				admission.MarkTerminating(obj)
			}
			if deleting {
				grace = min(grace, apiobject.Deref(obj.GetDeletionGracePeriodSeconds(), 0))
			}
			obj.SetDeletionGracePeriodSeconds(&grace)
			if obj.GetGeneration() > 0 && !deleting {
				obj.SetGeneration(obj.GetGeneration() + 1)
			}
			rev, err = s.put(res, old, obj, false)
		default:
			rev, err = s.removeStored(res, old)
		}
		if !errors.Is(err, storage.ErrStale) {
			return rev, !held, err
		}
	}
}

// removeStored removes an object from the store. If the object is a CustomResourceDefinition,
// removeStored also removes the defined resources.
func (s *Server) removeStored(res *storage.Resource, old *storage.Revision) (*storage.Revision, error) {
	if res.GVK != crd.Kind {
		return s.store.Remove(res, old)
	}
	s.crdMu.Lock()
	defer s.crdMu.Unlock()
	rev, err := s.store.Remove(res, old)
	if err == nil {
		s.store.RemoveResources(s.store.ResourcesOfCRD(old.Key.Name)...)
		err = s.register()
	}
	return rev, err
}

// checkDeletePreconditions returns an error if an object does not meet a precondition of its
// deletion.
func checkDeletePreconditions(res *storage.Resource, obj Object, opts metav1.DeleteOptions) error {
	err := checkPreconditions(obj, opts.Preconditions)
	if err == nil {
		return nil
	}
	// The real server also uses the kind as the resource name here.
	kind := schema.GroupResource{Group: res.Group, Resource: res.Kind}
	return apierrors.NewConflict(kind, obj.GetName(), err)
}

func checkPreconditions(obj Object, want *metav1.Preconditions) error {
	switch {
	case want == nil:
	case want.UID != nil && *want.UID != obj.GetUID():
		return fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *want.UID, obj.GetUID())
	case want.ResourceVersion != nil && *want.ResourceVersion != obj.GetResourceVersion():
		return fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", *want.ResourceVersion, obj.GetResourceVersion())
	}
	return nil
}

// secondsFromNow(seconds) returns the time in this many seconds from now.
func secondsFromNow(seconds int64) metav1.Time {
	return metav1.NewTime(apiobject.Now().Add(time.Duration(seconds) * time.Second))
}
