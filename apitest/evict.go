package apitest

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// evict deletes a pod if its disruption budget allows that.
func (s *Server) evict(req *Request, obj Object) (Object, error) {
	eviction := obj.(*policyv1.Eviction)
	if eviction.Name != req.Name {
		return nil, apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	opts, err := evictionOptions(eviction, req.query["dryRun"])
	if err != nil {
		return nil, err
	}
	for {
		old := s.store.Get(req.res, req.key())
		if old == nil {
			return nil, apierrors.NewNotFound(req.res.GroupResource(), req.Name)
		}
		unchangedSince := old
		if pod := old.Object().(*corev1.Pod); !skipsBudgets(pod) {
			spent, err := s.spendBudget(pod, isDryRun(opts))
			if err != nil {
				return nil, err
			}
			if spent {
				// The budget has already counted the disruption, so the pod is deleted even if it
				// changes.
				unchangedSince = nil
			}
		}
		if err = s.evictPod(req.res, old, unchangedSince, opts); !errors.Is(err, storage.ErrStale) {
			return nil, err
		}
	}
}

// evictionOptions returns the options for the deletion of the evicted pod.
func evictionOptions(eviction *policyv1.Eviction, dryRun []string) (opts metav1.DeleteOptions, err error) {
	if eviction.DeleteOptions != nil {
		opts = *eviction.DeleteOptions
	}
	switch {
	case len(opts.DryRun) == 0:
		opts.DryRun = dryRun
	case len(dryRun) > 0 && !slices.Equal(dryRun, opts.DryRun):
		//lint:ignore ST1005 The words are the real server's.
		err = fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", dryRun, opts.DryRun)
	}
	return opts, err
}

func isDryRun(opts metav1.DeleteOptions) bool { return slices.Contains(opts.DryRun, metav1.DryRunAll) }

// skipsBudgets reports whether budgets do not protect a pod, because it is not running or is being
// deleted.
func skipsBudgets(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodPending ||
		pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// evictPod writes the reason of the eviction into a pod, and deletes the pod. If unchangedSince is
// not nil and the pod has changed since that revision, evictPod returns storage.ErrStale.
func (s *Server) evictPod(pods *storage.Resource, old, unchangedSince *storage.Revision, opts metav1.DeleteOptions) error {
	key := old.Key
	if !isDryRun(opts) {
		rev, err := s.modify(pods, key, false, func(cur *storage.Revision) (Object, error) {
			pod := cur.Object().(*corev1.Pod)
			if err := checkDeletePreconditions(pods, pod, opts); err != nil {
				return nil, err
			}
			if unchangedSince != nil && cur.Version != unchangedSince.Version {
				return nil, storage.ErrStale
			}
			apiobject.SetPodCondition(pod, corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI")
			at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
			pod.Status.Conditions[at].Message = "Eviction API: evicting"
			return pod, nil
		})
		if err != nil {
			return err
		}
		if opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil {
			version := rev.ResourceVersion()
			opts.Preconditions = &metav1.Preconditions{UID: opts.Preconditions.UID, ResourceVersion: &version}
		}
	}
	_, _, err := s.remove(pods, key, opts)
	return err
}
