package clientcmd

import (
	"errors"
	"os"
	"strings"

	restclient "k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// Paths of a pod's service account files.
const (
	podTokenFile     = "/var/run/secrets/kubernetes.io/serviceaccount/token"
	podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// inClusterConfig is the config that a pod gets from its service account, with overrides.
type inClusterConfig struct{ overrides *ConfigOverrides }

var _ InClusterConfig = &inClusterConfig{}

// RawConfig implements ClientConfig.
func (c *inClusterConfig) RawConfig() (clientcmdapi.Config, error) {
	return clientcmdapi.Config{}, errors.New("inCluster environment config doesn't support multiple clusters")
}

// ClientConfig implements ClientConfig.
func (c *inClusterConfig) ClientConfig() (*restclient.Config, error) {
	config, err := restclient.InClusterConfig()
	if err != nil {
		return nil, err
	}
	if c.overrides == nil {
		return config, nil
	}
	if server := c.overrides.ClusterInfo.Server; server != "" {
		config.Host = server
	}
	if user := c.overrides.AuthInfo; user.Token != "" || user.TokenFile != "" {
		config.BearerToken, config.BearerTokenFile = user.Token, user.TokenFile
	}
	if ca := c.overrides.ClusterInfo.CertificateAuthority; ca != "" {
		config.CAFile = ca
	}
	return config, nil
}

// Namespace implements ClientConfig.
func (c *inClusterConfig) Namespace() (string, bool, error) {
	if namespace := os.Getenv("POD_NAMESPACE"); namespace != "" {
		return namespace, false, nil
	}
	if content, err := os.ReadFile(podNamespaceFile); err == nil {
		if namespace := strings.TrimSpace(string(content)); namespace != "" {
			return namespace, false, nil
		}
	}
	return "default", false, nil
}

// ConfigAccess implements ClientConfig.
func (c *inClusterConfig) ConfigAccess() ConfigAccess { return NewDefaultClientConfigLoadingRules() }

// Possible implements InClusterConfig.
func (c *inClusterConfig) Possible() bool {
	info, err := os.Stat(podTokenFile)
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBERNETES_SERVICE_PORT") != "" && err == nil && !info.IsDir()
}

// BuildConfigFromFlags returns the connection to the server of a kubeconfig's current context.
// masterURL, if not empty, overrides the server. If both arguments are empty, it returns the pod's
// config.
func BuildConfigFromFlags(masterURL, kubeconfigPath string) (*restclient.Config, error) {
	if masterURL == "" && kubeconfigPath == "" {
		switch config, err := restclient.InClusterConfig(); err {
		case nil:
			klog.Info("There is no kubeconfig, and no server is named: the server is the one that pods are told of")
			return config, nil
		default:
			klog.Warningf("There is no kubeconfig, and no server is named; neither is this a pod with a service account: %v", err)
		}
	}
	return overriding(masterURL, &ClientConfigLoadingRules{ExplicitPath: kubeconfigPath})
}

// BuildConfigFromKubeconfigGetter is BuildConfigFromFlags for the config that kubeconfigGetter
// returns.
func BuildConfigFromKubeconfigGetter(masterURL string, kubeconfigGetter KubeconfigGetter) (*restclient.Config, error) {
	return overriding(masterURL, &ClientConfigGetter{kubeconfigGetter: kubeconfigGetter})
}

// overriding returns the connection for the config of a loader. If server is not empty, it replaces
// the server of the config.
func overriding(server string, loader ClientConfigLoader) (*restclient.Config, error) {
	overrides := &ConfigOverrides{}
	overrides.ClusterInfo.Server = server
	return NewNonInteractiveDeferredLoadingClientConfig(loader, overrides).ClientConfig()
}
