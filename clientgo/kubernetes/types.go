package kubernetes

import (
	"k8s.io/client-go/kubernetes/internal/builtin"
	"k8s.io/client-go/kubernetes/internal/everything"
)

// With this call, the REST client of a group can also send and receive the types of all other
// groups.
func init() { builtin.Register(everything.AddToScheme) }
