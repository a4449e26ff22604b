package main

import (
	"fmt"

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

// WebsiteSpec is what the user wants.
type WebsiteSpec struct {
	Host     string `json:"host"`
	Image    string `json:"image"`
	Replicas int32  `json:"replicas"`
}

// WebsiteStatus is what there is. ObservedGeneration says which spec it is about.
type WebsiteStatus struct {
	ObservedGeneration int64  `json:"observedGeneration"`
	ReadyReplicas      int32  `json:"readyReplicas"`
	Message            string `json:"message,omitempty"`
}

func (w *Website) key() types.NamespacedName {
	return types.NamespacedName{Namespace: w.Namespace, Name: w.Name}
}

// validate says what the schema in website.yaml can't.
func (s WebsiteSpec) validate() error {
	if wrong := validation.IsDNS1123Subdomain(s.Host); len(wrong) > 0 {
		return fmt.Errorf("spec.host %q: %s", s.Host, wrong[0])
	}
	return nil
}
