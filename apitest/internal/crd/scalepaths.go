package crd

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ScalePaths are the paths of the replica fields in a custom resource with the scale subresource.
type ScalePaths struct {
	SpecReplicasPath   string `json:"specReplicasPath"`
	StatusReplicasPath string `json:"statusReplicasPath"`
	LabelSelectorPath  string `json:"labelSelectorPath"`
}

// Fields splits a path such as .spec.replicas into field names.
func (p ScalePaths) Fields(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// Read fills a scale from a custom resource. A missing field counts as 0.
func (p ScalePaths) Read(u *unstructured.Unstructured, scale *autoscalingv1.Scale) {
	number := func(path string) int32 {
		n, _, _ := unstructured.NestedInt64(u.Object, p.Fields(path)...)
		return int32(n)
	}
	scale.Spec.Replicas, scale.Status.Replicas = number(p.SpecReplicasPath), number(p.StatusReplicasPath)
	if p.LabelSelectorPath != "" {
		scale.Status.Selector, _, _ = unstructured.NestedString(u.Object, p.Fields(p.LabelSelectorPath)...)
	}
}

// Write sets the desired number of replicas.
func (p ScalePaths) Write(u *unstructured.Unstructured, replicas int32) error {
	return unstructured.SetNestedField(u.Object, int64(replicas), p.Fields(p.SpecReplicasPath)...)
}
