package v1

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers/internal/selecting"
)

// JobListerExpansion has the additional methods of this lister.
type JobListerExpansion interface {
	// GetPodJobs returns the jobs whose selectors match a pod. It returns an error if there are
	// none.
	GetPodJobs(pod *corev1.Pod) (jobs []batchv1.Job, err error)
}

// JobNamespaceListerExpansion is empty: this lister has no additional methods.
type JobNamespaceListerExpansion interface{}

// GetPodJobs implements JobListerExpansion.
func (l *jobLister) GetPodJobs(pod *corev1.Pod) ([]batchv1.Job, error) {
	found, err := selecting.Owners("Jobs", pod, l.Jobs(pod.Namespace).List, func(o *batchv1.Job) *metav1.LabelSelector { return o.Spec.Selector })
	var jobs []batchv1.Job
	for _, job := range found {
		jobs = append(jobs, *job)
	}
	return jobs, err
}
