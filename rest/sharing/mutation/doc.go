// Package mutation finds, in tests, who changes objects of a cache.
//
// Objects that come from an informer are read-only: others have them, too, and with
// rest/sharing even parts of them belong to other objects as well. Whoever wants to
// change one makes a DeepCopy first. The compiler does not know that rule; a
// [Detector] does:
//
//	detector := mutation.New(t)
//	pods, err := informer.New(sources.Transform(source, mutation.Transform[*corev1.Pod](detector)), informer.Options[*corev1.Pod]{})
//
// It copies every object before anybody has it, compares the two when the test ends,
// or when [Detector.Check] is called, and fails the test with the key of the object,
// the path of the field, and what was and what is there:
//
//	default/web-1 was changed after it had been read; copy an object before changing it:
//	  Spec.NodeName: "node-3" became "node-4"
//
// Where the changed part is shared, all fields that have it are named: any of them
// may be the one through which it was changed.
//
// # Guarantees
//
// What only reads is not reported, although it may change a resource.Quantity, which
// remembers its text and converts itself. Fields that are not exported are compared
// only in types that have no others, such as time.Time.
//
// A Detector keeps all objects until the test ends. It works with any informer,
// client-go's as well: mutation.Transform[any] is a cache.TransformFunc.
package mutation
