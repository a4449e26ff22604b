package skew

import "k8s.io/apimachinery/pkg/runtime"

// A compiler that says "undefined" of the last line here has an older k8s.io/apimachinery than v0.37, which a program gets only if its go.mod
// replaces that module: the line with that replacement has to go. What imports this package is not compiled then, so this is all that the compiler says.
var _ = (*runtime.Scheme).HasValidationFunc
