// Package auth brings all auth providers with it: programs import it for its effect.
package auth

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth/azure" // registers itself
	_ "k8s.io/client-go/plugin/pkg/client/auth/gcp"   // registers itself
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc"  // registers itself
)
