// Package gcp registers the auth provider "gcp" of old kubeconfigs. The provider was removed, so
// its use is an error that names the replacement.
package gcp

import (
	"errors"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

func init() { utilruntime.Must(rest.RegisterAuthProviderPlugin("gcp", removedProvider)) }

func removedProvider(string, map[string]string, rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
	return nil, errors.New("the gcp auth plugin has been removed: use the exec plugin gke-gcloud-auth-plugin (https://cloud.google.com/blog/products/containers-kubernetes/kubectl-auth-changes-in-gke)")
}
