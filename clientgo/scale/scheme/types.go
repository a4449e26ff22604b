// Package scheme has the version of Scale that all others are converted to and from.
package scheme

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Scale says how many replicas of something there are, and how many there are to be.
type Scale struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	// Spec is what is wanted.
	Spec ScaleSpec

	// Status is what there is. Clients don't write it.
	Status ScaleStatus
}

// ScaleSpec is what is wanted.
type ScaleSpec struct {
	// Replicas is how many there are to be.
	Replicas int32
}

// ScaleStatus is what there is.
type ScaleStatus struct {
	// Replicas is how many there are.
	Replicas int32

	// Selector chooses the pods that are counted. It may be nil.
	Selector *metav1.LabelSelector
}
