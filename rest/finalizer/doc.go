// Package finalizer keeps an object until its controller has cleaned up.
//
// A finalizer is a name in metadata.finalizers. If an object with a finalizer is deleted, the
// server only marks it, by a deletionTimestamp, and removes it when the last name is gone. Every
// controller handles its finalizer in the same way. [Handle] does all of it:
//
//	pod, gone, err := finalizer.Handle(ctx, pods, cached, "example.com/dns", removeRecord)
//	if gone || err != nil {
//		return err
//	}
//	// pod has the finalizer: removeRecord will clean up.
//
// Objects come from a cache and may be old. Every change is a JSON patch that first tests the UID,
// and the finalizers that it touches. So a patch never removes the finalizer of another controller,
// and never changes another object of the same name. If a test fails, the object is read again, and
// a new patch is made.
//
// Handle works with any *rest.Resource, also of *metav1.PartialObjectMetadata. It needs the verbs
// get and patch.
package finalizer
