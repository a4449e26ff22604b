package metadata

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Interface is a client for the metadata of all resources. It and the clients that it returns are
// safe for concurrent use.
type Interface interface {
	Resource(resource schema.GroupVersionResource) Getter
}

// ResourceInterface is a client for the metadata of a resource's objects. The caller owns the
// returned objects. It has no update, because servers cannot update only the metadata of an object.
// Use Patch instead.
type ResourceInterface interface {
	Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error
	DeleteCollection(ctx context.Context, options metav1.DeleteOptions, listOptions metav1.ListOptions) error
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*metav1.PartialObjectMetadata, error)
	List(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error)
}

// Getter is a client for a resource in all namespaces, or for a cluster-scoped resource. Namespace
// returns a client for one namespace.
type Getter interface {
	Namespace(string) ResourceInterface
	ResourceInterface
}
