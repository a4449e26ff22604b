// Package finalizer keeps an object until its controller has cleaned up.
//
// A finalizer is a name in metadata.finalizers. If a client deletes an object with a finalizer, the
// server only sets the object's deletionTimestamp. It removes the object when the last finalizer is
// gone. Every controller handles its finalizer in the same way, and [Handle] does all these steps:
//
//	pod, gone, err := finalizer.Handle(ctx, pods, cached, "example.com/dns", removeRecord)
//	if gone || err != nil {
//		return err
//	}
//	// pod has the finalizer: removeRecord will clean up.
//
// Objects come from a cache and may be old. Every change is a JSON patch that first tests the
// object's UID and the finalizers that the patch changes. So a patch never removes the finalizer of
// another controller, and never changes another object of the same name. If a test fails, the
// package reads the object again, and sends a new patch.
//
// Handle works with any *rest.Resource, including a resource of *metav1.PartialObjectMetadata. Its
// user needs the verbs get and patch.
package finalizer
