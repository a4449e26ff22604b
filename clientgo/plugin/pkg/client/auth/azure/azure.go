// Package azure registers the auth provider "azure" of old kubeconfigs. The provider was removed,
// so its use is an error that names the replacement.
package azure

import (
	"errors"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

func init() { utilruntime.Must(rest.RegisterAuthProviderPlugin("azure", removedProvider)) }

func removedProvider(string, map[string]string, rest.AuthProviderConfigPersister) (rest.AuthProvider, error) {
	return nil, errors.New("the azure auth plugin has been removed: use the exec plugin kubelogin (https://github.com/Azure/kubelogin)")
}
