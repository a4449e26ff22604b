// Package mutation finds, in tests, changes of objects that come from a cache.
//
// Objects of an informer are read-only: other users have the same objects, and with rest/sharing,
// other objects have the same parts. Code that changes an object must make a DeepCopy first. The
// compiler does not check this rule, but a [Detector] does:
//
//	detector := mutation.New(t)
//	pods, err := informer.New(
//		sources.Transform(source, mutation.Transform[*corev1.Pod](detector)),
//		informer.Options[*corev1.Pod]{})
//
// The Detector copies every object before any user has it. It compares objects and copies when the
// test ends, or when [Detector.Check] is called. If an object has changed, the Detector fails the
// test. The message has the key of the object, the path of the field, and the old and the new
// value:
//
//	default/web-1 was changed after a read; copy an object before a change:
//	  Spec.NodeName: "node-3" became "node-4"
//
// If several objects share the changed part, the error names the field in all of them. The program
// may have changed it through any of them.
//
// # Guarantees
//
// A Detector does not report reads, although reading a resource.Quantity may change its cached text
// and its form. It compares unexported fields only in types without exported fields, such as
// time.Time.
//
// [CheckUnshared] is for objects that users may change in place. It returns an error if two of them
// share memory that a program can change.
//
// A Detector keeps all objects until the test ends. It works with any informer,
// client-go's as well: mutation.Transform[any] is a cache.TransformFunc.
package mutation
