package main

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var group = schema.GroupVersion{Group: "bench.example.com", Version: "v1"}

// Widget is the custom resource.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   WidgetSpec   `json:"spec"`
	Status WidgetStatus `json:"status,omitzero"`
}

// WidgetSpec is the desired state.
type WidgetSpec struct {
	Order int64  `json:"order"`
	Shelf string `json:"shelf"`
}

// WidgetStatus is the observed state.
type WidgetStatus struct {
	Order int64 `json:"order"`
}

func (w *Widget) data() map[string]string {
	return map[string]string{"order": fmt.Sprint(w.Spec.Order), "shelf": w.Spec.Shelf}
}
