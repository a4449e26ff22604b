package apitest

import (
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scalePaths are the paths of the replica fields in a custom resource with the scale subresource.
type scalePaths struct {
	SpecReplicasPath   string `json:"specReplicasPath"`
	StatusReplicasPath string `json:"statusReplicasPath"`
	LabelSelectorPath  string `json:"labelSelectorPath"`
}

// fields splits a path such as .spec.replicas into field names.
func (p scalePaths) fields(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "."), ".")
}

// read fills a scale from a custom resource. A missing field counts as 0.
func (p scalePaths) read(u *unstructured.Unstructured, scale *autoscalingv1.Scale) {
	number := func(path string) int32 {
		n, _, _ := unstructured.NestedInt64(u.Object, p.fields(path)...)
		return int32(n)
	}
	scale.Spec.Replicas, scale.Status.Replicas = number(p.SpecReplicasPath), number(p.StatusReplicasPath)
	if p.LabelSelectorPath != "" {
		scale.Status.Selector, _, _ = unstructured.NestedString(u.Object, p.fields(p.LabelSelectorPath)...)
	}
}

// write sets the desired number of replicas.
func (p scalePaths) write(u *unstructured.Unstructured, replicas int32) error {
	return unstructured.SetNestedField(u.Object, int64(replicas), p.fields(p.SpecReplicasPath)...)
}
