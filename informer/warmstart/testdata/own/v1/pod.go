// Package v1 has the name of one of k8s.io/api, as packages of users may.
package v1

// Pod is another type than that of k8s.io/api, with the same name.
type Pod struct{ Name string }
