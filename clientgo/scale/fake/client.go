// Package fake has a client for scales whose results come from a test's reactors.
package fake

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/scale"
	"k8s.io/client-go/testing"
)

// FakeScaleClient returns the results of the test's reactors. Each result must be an
// *autoscalingv1.Scale. If no reactor handles a call, the result is an empty Scale. As in
// client-go, the recorded actions omit the options of the call.
type FakeScaleClient struct {
	testing.Fake
}

var _ scale.ScalesGetter = &FakeScaleClient{}

// Scales implements scale.ScalesGetter.
func (f *FakeScaleClient) Scales(namespace string) scale.ScaleInterface {
	return &fakeScales{fake: &f.Fake, namespace: namespace}
}

type fakeScales struct {
	fake      *testing.Fake
	namespace string
}

func (s *fakeScales) invoke(action testing.Action) (*autoscalingv1.Scale, error) {
	obj, err := s.fake.Invokes(action, &autoscalingv1.Scale{})
	if err != nil {
		return nil, err
	}
	return obj.(*autoscalingv1.Scale), nil
}

// Get implements scale.ScaleInterface.
func (s *fakeScales) Get(_ context.Context, resource schema.GroupResource, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error) {
	return s.invoke(testing.NewGetSubresourceAction(resource.WithVersion(""), s.namespace, "scale", name))
}

// Update implements scale.ScaleInterface.
func (s *fakeScales) Update(_ context.Context, resource schema.GroupResource, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error) {
	return s.invoke(testing.NewUpdateSubresourceAction(resource.WithVersion(""), "scale", s.namespace, scale))
}

// Patch implements scale.ScaleInterface.
func (s *fakeScales) Patch(_ context.Context, gvr schema.GroupVersionResource, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions) (*autoscalingv1.Scale, error) {
	return s.invoke(testing.NewPatchSubresourceAction(gvr, s.namespace, name, pt, data, "scale"))
}
