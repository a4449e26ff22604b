package kubernetes

import (
	"k8s.io/client-go/kubernetes/internal/builtin"
	"k8s.io/client-go/kubernetes/internal/everything"
)

// The REST client of one group can send and receive the types of all others.
func init() { builtin.Know(everything.AddToScheme) }
