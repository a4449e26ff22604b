// Package managedfields tracks which manager set which field of an object, and does server-side
// apply (KEP-555). It is for the API server of package apitest. The module
// sigs.k8s.io/structured-merge-diff does the merging itself, as in the real server.
//
//	type of an object ──► Type ──┐
//	                             ▼
//	object, managed fields ──► Type.Update, Type.Apply ──► object, managed fields
//
// A [Type] knows which lists are sets, which lists are maps by some of their fields, and which
// lists are atomic. For a Go type, this comes from reflection and from the markers in the comments
// of the Kubernetes types (markers.txt). For a custom resource, it comes from the schema.
//
// An object is a document: decoded JSON, with integers as int64.
//
// # Limits
//
// Fields of kubectl's client-side apply are not handed over to its server-side apply.
//
// # Guarantees
//
//   - Type.Update and Type.Apply own the documents live and object, and remove their managed
//     fields. A returned document may share memory with them. Neither method changes anything else,
//     in particular wanted and the entries.
//   - A Type is safe for concurrent use.
package managedfields
