// Package finalizer keeps an object from going before its controller has cleaned up.
//
// A finalizer is a name in metadata.finalizers. An object that has one and is deleted
// is only marked, by a deletionTimestamp, and goes when the last name is removed. The
// life of a controller's finalizer is always the same, so [Handle] does it whole:
//
//	pod, gone, err := finalizer.Handle(ctx, pods, cached, "example.com/dns", removeRecord)
//	if gone || err != nil {
//		return err
//	}
//	// pod has the finalizer: what is made for it will be cleaned up.
//
// Objects come from a cache and may be old. Every change is a JSON patch that first
// tests what it was made from (the uid, and the finalizers that it touches), so that
// it never removes another's finalizer, and never meets another object of the same
// name. Where a test fails, the object is read again and the patch made anew.
//
// It works with any *rest.Resource, also of *metav1.PartialObjectMetadata. The rights
// that it needs are get and patch.
package finalizer
