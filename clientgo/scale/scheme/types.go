// Package scheme has the internal version of Scale. All other versions are converted to and from
// it.
package scheme

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scale is the current and the desired number of replicas of an object.
type Scale struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// Spec is the desired state.
	Spec ScaleSpec

	// Status is the current state. Clients don't write it.
	Status ScaleStatus
}

// ScaleSpec is the desired state of a Scale.
type ScaleSpec struct {
	// Replicas is the desired number of replicas.
	Replicas int32
}

// ScaleStatus is the observed state of a Scale.
type ScaleStatus struct {
	// Replicas is the current number of replicas.
	Replicas int32

	// Selector selects the pods that are counted. May be nil.
	Selector *metav1.LabelSelector
}
