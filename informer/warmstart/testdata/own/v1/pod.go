// Package v1 has the same name as a package of k8s.io/api, as a user's package may have.
package v1

// Pod is a type with the same name as the Pod of k8s.io/api.
type Pod struct{ Name string }
