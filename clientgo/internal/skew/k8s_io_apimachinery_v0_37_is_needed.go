package skew

import "k8s.io/apimachinery/pkg/runtime"

// If the compiler reports "undefined" for the line below, k8s.io/apimachinery is older than v0.37.
// This happens only if the program's go.mod replaces that module. Remove the replace directive.
// Packages that import this package are then not compiled, so the compiler reports no other error.
var _ = (*runtime.Scheme).HasValidationFunc
