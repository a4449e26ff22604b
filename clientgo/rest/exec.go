package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/plugin/pkg/client/auth/exec"
	"k8s.io/client-go/transport"
)

// execCredentials adds the credentials of the command in ExecProvider to a transport's
// configuration.
func (c *Config) execCredentials(out *transport.Config) error {
	if c.AuthProvider != nil {
		return errors.New("execProvider and authProvider cannot be used in combination")
	}
	var cluster *clientauthentication.Cluster
	if c.ExecProvider.ProvideClusterInfo {
		var err error
		if cluster, err = ConfigToExecCluster(c); err != nil {
			return err
		}
	}
	authenticator, err := exec.GetAuthenticator(c.ExecProvider, cluster)
	if err != nil {
		return err
	}
	return authenticator.UpdateTransportConfig(out)
}

// ConfigToExecCluster returns the description of a server for a plugin. It reads the CA file, and
// calls Proxy to get the proxy for the server.
func ConfigToExecCluster(config *Config) (*clientauthentication.Cluster, error) {
	cluster := &clientauthentication.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
		CertificateAuthorityData: config.CAData,
		DisableCompression:       config.DisableCompression,
	}
	if len(config.CAData) == 0 && config.CAFile != "" {
		data, err := os.ReadFile(config.CAFile)
		if err != nil {
			return nil, fmt.Errorf("failed to load CA bundle for execProvider: %w", err)
		}
		cluster.CertificateAuthorityData = data
	}
	if config.Proxy != nil {
		request, err := http.NewRequest(http.MethodGet, config.Host, nil)
		if err != nil {
			return nil, fmt.Errorf("failed to create proxy URL request for execProvider: %w", err)
		}
		proxy, err := config.Proxy(request)
		if err != nil {
			return nil, fmt.Errorf("failed to get proxy URL for execProvider: %w", err)
		}
		if proxy != nil {
			cluster.ProxyURL = proxy.String()
		}
	}
	if config.ExecProvider != nil {
		cluster.Config = config.ExecProvider.Config
	}
	return cluster, nil
}

// ExecClusterToConfig returns a Config for the server that a plugin has received. The Config has no
// credentials.
func ExecClusterToConfig(cluster *clientauthentication.Cluster) (*Config, error) {
	config := &Config{
		Host:               cluster.Server,
		DisableCompression: cluster.DisableCompression,
		TLSClientConfig:    TLSClientConfig{Insecure: cluster.InsecureSkipTLSVerify, ServerName: cluster.TLSServerName, CAData: cluster.CertificateAuthorityData},
	}
	if cluster.ProxyURL != "" {
		proxy, err := url.Parse(cluster.ProxyURL)
		if err != nil {
			return nil, errors.New("cannot parse proxy URL") // the URL may have a password
		}
		config.Proxy = http.ProxyURL(proxy)
	}
	return config, nil
}
