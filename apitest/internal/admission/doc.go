// Package admission checks and merges what clients write, like the validation of a real server: the
// names and the metadata of objects, finalizers, and the subresources of pods. It is for the API
// server of package apitest.
//
// # Guarantees
//
//   - Errors have the real server's texts.
//   - A function changes at most its first argument, and only if it says so.
package admission
