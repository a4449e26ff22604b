// Package managedfields keeps track of who set which field of an object, and does server-side
// apply (KEP-555), for the API server of package apitest. The merging itself is that of
// sigs.k8s.io/structured-merge-diff, as in the real server.
//
//	type of an object ──► Type ──┐
//	                             ▼
//	object, managed fields ──► Type.Update, Type.Apply ──► object, managed fields
//
// A [Type] knows which lists are sets, which are maps by some of their fields, and which are
// atomic: for a Go type by reflection, and by the markers in the comments of the Kubernetes types
// (markers.txt); for a custom resource by its schema.
//
// Objects are documents: what JSON is decoded into, with whole numbers as int64.
//
// # What is left out
//
// Fields of kubectl's client-side apply are not handed over to its server-side apply.
//
// # Guarantees
//
//   - It takes over the documents live and object, and takes their managed fields away. A document that
//     it returns may share memory with those that it was given. It changes nothing else, and neither
//     wanted nor the entries.
//   - A Type is safe for concurrent use.
package managedfields
