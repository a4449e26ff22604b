package clientcmd

import (
	"io"
	"sync"

	restclient "k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// DeferredLoadingClientConfig loads its files on first use, once. Until then, rules and overrides
// may be changed, for example by flags. If nothing is configured and the program runs in a pod, it
// uses the config of the pod. It is safe for concurrent use.
type DeferredLoadingClientConfig struct {
	loader    ClientConfigLoader
	overrides *ConfigOverrides
	fallback  io.Reader
	icc       InClusterConfig

	mu     sync.Mutex // guards following
	loaded OverridingClientConfig
}

// InClusterConfig is the config that a pod gets from its service account.
type InClusterConfig interface {
	ClientConfig
	// Possible reports whether the program runs in a pod with a service account.
	Possible() bool
}

// NewNonInteractiveDeferredLoadingClientConfig returns a config that is loaded on first use.
func NewNonInteractiveDeferredLoadingClientConfig(loader ClientConfigLoader, overrides *ConfigOverrides) ClientConfig {
	return &DeferredLoadingClientConfig{loader: loader, overrides: overrides, icc: &inClusterConfig{overrides: overrides}}
}

// NewInteractiveDeferredLoadingClientConfig is NewNonInteractiveDeferredLoadingClientConfig for a
// program with a user. If the config has no credentials, it prompts for a username and a password.
func NewInteractiveDeferredLoadingClientConfig(loader ClientConfigLoader, overrides *ConfigOverrides, fallbackReader io.Reader) ClientConfig {
	return &DeferredLoadingClientConfig{loader: loader, overrides: overrides, fallback: fallbackReader, icc: &inClusterConfig{overrides: overrides}}
}

// load returns the loaded config. It loads the files on the first call.
func (config *DeferredLoadingClientConfig) load() (OverridingClientConfig, error) {
	config.mu.Lock()
	defer config.mu.Unlock()
	if config.loaded != nil {
		return config.loaded, nil
	}
	merged, err := config.loader.Load()
	if err != nil {
		return nil, err
	}
	current := ""
	if config.overrides != nil {
		current = config.overrides.CurrentContext
	}
	config.loaded = &DirectClientConfig{config: *merged, contextName: current, overrides: config.overrides, fallback: config.fallback, access: config.loader}
	return config.loaded, nil
}

// RawConfig implements ClientConfig.
func (config *DeferredLoadingClientConfig) RawConfig() (clientcmdapi.Config, error) {
	loaded, err := config.load()
	if err != nil {
		return clientcmdapi.Config{}, err
	}
	return loaded.RawConfig()
}

// ClientConfig implements ClientConfig.
func (config *DeferredLoadingClientConfig) ClientConfig() (*restclient.Config, error) {
	loaded, err := config.load()
	if err != nil {
		return nil, err
	}
	result, err := loaded.ClientConfig()
	switch {
	case err != nil && !IsEmptyConfig(err):
		return nil, err
	case err == nil && !config.loader.IsDefaultConfig(result):
		return result, nil
	case config.icc.Possible():
		klog.V(4).Info("Using in-cluster configuration")
		return config.icc.ClientConfig()
	}
	return result, err
}

// Namespace implements ClientConfig.
func (config *DeferredLoadingClientConfig) Namespace() (string, bool, error) {
	loaded, err := config.load()
	if err != nil {
		return "", false, err
	}
	namespace, overridden, err := loaded.Namespace()
	if err != nil && !IsEmptyConfig(err) || overridden || !config.icc.Possible() {
		return namespace, overridden, err
	}
	if namespace != "" && config.isConfigured(loaded, namespace) {
		return namespace, false, nil
	}
	klog.V(4).Info("Using in-cluster namespace")
	return config.icc.Namespace()
}

// isConfigured reports whether a file sets the namespace. If it returns false, the pod's namespace
// is used.
func (config *DeferredLoadingClientConfig) isConfigured(loaded ClientConfig, namespace string) bool {
	if namespace != "default" {
		return true
	}
	raw, err := loaded.RawConfig()
	if err != nil {
		return false
	}
	current := raw.CurrentContext
	if config.overrides != nil && config.overrides.CurrentContext != "" {
		current = config.overrides.CurrentContext
	}
	context := raw.Contexts[current]
	return context != nil && context.Namespace != ""
}

// ConfigAccess implements ClientConfig.
func (config *DeferredLoadingClientConfig) ConfigAccess() ConfigAccess { return config.loader }
