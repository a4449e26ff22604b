//go:build withscheme

package main

// A program that imports this package may add types to its scheme. All clients of the program then
// use that scheme.
import _ "k8s.io/client-go/kubernetes/scheme"
