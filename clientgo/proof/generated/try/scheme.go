//go:build withscheme

package main

// If a program imports package kubernetes/scheme, all clients of the program use the scheme of that
// package.
import _ "k8s.io/client-go/kubernetes/scheme"
