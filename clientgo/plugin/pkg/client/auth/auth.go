// Package auth registers all auth providers. Programs import it only for this effect.
package auth

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth/azure" // registers itself
	_ "k8s.io/client-go/plugin/pkg/client/auth/gcp"   // registers itself
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc"  // registers itself
)
