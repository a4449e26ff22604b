package scale

import (
	"context"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ScalesGetter returns clients for namespaces.
type ScalesGetter interface {
	// Scales returns the client for a namespace. namespace is "" for cluster-scoped resources.
	Scales(namespace string) ScaleInterface
}

// ScaleInterface reads and writes scales of the resources in a namespace. It is safe for concurrent
// use.
type ScaleInterface interface {
	// Get returns the scale of an object.
	Get(ctx context.Context, resource schema.GroupResource, name string, opts metav1.GetOptions) (*autoscalingv1.Scale, error)

	// Update writes a scale, and returns it as the server stored it. The scale must have the name
	// of the scaled object.
	Update(ctx context.Context, resource schema.GroupResource, scale *autoscalingv1.Scale, opts metav1.UpdateOptions) (*autoscalingv1.Scale, error)

	// Patch changes the scale of an object, and returns it. The patch must be in the server's
	// version of Scale.
	Patch(ctx context.Context, gvr schema.GroupVersionResource, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions) (*autoscalingv1.Scale, error)
}

// PreferredResourceMapper finds the version of a resource. Every meta.RESTMapper implements it.
type PreferredResourceMapper interface {
	// ResourceFor returns a resource with its preferred version.
	ResourceFor(resource schema.GroupVersionResource) (preferredResource schema.GroupVersionResource, err error)
}

// ScaleKindResolver finds the version of Scale that a resource uses.
type ScaleKindResolver interface {
	// ScaleForResource returns the kind of the resource's subresource scale.
	ScaleForResource(resource schema.GroupVersionResource) (scaleVersion schema.GroupVersionKind, err error)
}
