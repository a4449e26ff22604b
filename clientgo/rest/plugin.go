package rest

import (
	"fmt"
	"net/http"
	"sync"

	"k8s.io/klog/v2"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// AuthProvider authenticates requests.
type AuthProvider interface {
	// WrapTransport returns a round tripper that authenticates.
	WrapTransport(http.RoundTripper) http.RoundTripper
	// Login prepares the provider. It does not belong to a request.
	Login() error
}

// Factory makes an AuthProvider for a server from a configuration. The provider stores changes of
// its configuration with persister.
type Factory func(clusterAddress string, config map[string]string, persister AuthProviderConfigPersister) (AuthProvider, error)

// AuthProviderConfigPersister stores the configuration of a provider.
type AuthProviderConfigPersister interface {
	Persist(map[string]string) error
}

// discardPersister is an AuthProviderConfigPersister that discards the configuration.
type discardPersister struct{}

// Persist implements [AuthProviderConfigPersister].
func (discardPersister) Persist(map[string]string) error { return nil }

var providers struct {
	mu     sync.Mutex // guards following
	byName map[string]Factory
}

// RegisterAuthProviderPlugin registers a factory under a name. A name can be registered once.
func RegisterAuthProviderPlugin(name string, plugin Factory) error {
	providers.mu.Lock()
	defer providers.mu.Unlock()
	if _, taken := providers.byName[name]; taken {
		return fmt.Errorf("auth Provider Plugin %q was registered twice", name)
	}
	klog.V(4).InfoS("Registered Auth Provider Plugin", "plugin", name)
	if providers.byName == nil {
		providers.byName = map[string]Factory{}
	}
	providers.byName[name] = plugin
	return nil
}

// GetAuthProvider returns a provider that the factory with the name in apc has made.
func GetAuthProvider(clusterAddress string, apc *clientcmdapi.AuthProviderConfig, persister AuthProviderConfigPersister) (AuthProvider, error) {
	providers.mu.Lock()
	factory, ok := providers.byName[apc.Name]
	providers.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no Auth Provider found for name %q", apc.Name)
	}
	if persister == nil {
		persister = discardPersister{}
	}
	return factory(clusterAddress, apc.Config, persister)
}
