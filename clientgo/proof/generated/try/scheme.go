//go:build withscheme

package main

// A program that imports this package may add types to its scheme, which is that of all its clients then.
import _ "k8s.io/client-go/kubernetes/scheme"
