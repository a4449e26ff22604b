package main

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

var (
	group       = schema.GroupVersion{Group: "example.com", Version: "v1"}
	websites    = group.WithResource("websites")
	websiteKind = group.WithKind("Website")
)

// Website is the custom resource that website.yaml defines. A plain struct is enough:
// nothing is generated.
type Website struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	Spec   WebsiteSpec   `json:"spec"`
	Status WebsiteStatus `json:"status,omitzero"`
}

// WebsiteSpec is the state that the user wants.
type WebsiteSpec struct {
	Host     string `json:"host"`
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
}

// WebsiteStatus is the present state. ObservedGeneration is the generation of the spec that the
// status describes. The condition Ready is true if the present state fulfils that spec.
type WebsiteStatus struct {
	ObservedGeneration int64              `json:"observedGeneration"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// DeepCopy returns a Website that shares nothing with this one. A plain copy would share maps and
// slices, including the conditions. A change of the copy would then also change the cached object.
func (w *Website) DeepCopy() *Website {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &out
}

// ready returns the condition Ready of a Website with this number of ready replicas. wrong is the
// error if the spec is invalid.
func (w *Website) ready(replicas int32, wrong error) metav1.Condition {
	c := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: w.Generation}
	switch {
	case wrong != nil:
		c.Reason, c.Message = "InvalidSpec", wrong.Error()
	case replicas < w.Spec.Replicas:
		c.Reason, c.Message = "Progressing", fmt.Sprintf("%d of %d replicas are ready", replicas, w.Spec.Replicas)
	default:
		c.Status, c.Reason = metav1.ConditionTrue, "Available"
	}
	return c
}

func (w *Website) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}

// validate checks the rules that the schema in website.yaml can't express.
func (s WebsiteSpec) validate() error {
	if wrong := validation.IsDNS1123Subdomain(s.Host); len(wrong) > 0 {
		return fmt.Errorf("spec.host %q: %s", s.Host, wrong[0])
	}
	return nil
}
