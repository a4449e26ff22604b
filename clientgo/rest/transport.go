package rest

import (
	"crypto/tls"
	"errors"
	"net/http"
	"os"

	"k8s.io/client-go/internal/skew"
	"k8s.io/client-go/transport"
)

// HTTPClientFor returns the HTTP client of a Config. If the Config has no settings for an HTTP
// client, the result is http.DefaultClient.
func HTTPClientFor(config *Config) (*http.Client, error) {
	skew.Report()
	rt, err := TransportFor(config)
	if err != nil {
		return nil, err
	}
	if rt == http.DefaultTransport && config.Timeout <= 0 {
		return http.DefaultClient, nil
	}
	return &http.Client{Transport: rt, Timeout: config.Timeout}, nil
}

// TLSConfigFor returns the TLS configuration of a Config, or nil if the Config has no TLS settings.
func TLSConfigFor(config *Config) (*tls.Config, error) {
	return withTransportConfig(config, transport.TLSConfigFor)
}

// TransportFor returns the transport of a Config, with the wrappers that set headers and
// credentials.
func TransportFor(config *Config) (http.RoundTripper, error) {
	return withTransportConfig(config, transport.New)
}

// HTTPWrappersForConfig wraps rt with the round trippers that set headers and credentials.
func HTTPWrappersForConfig(config *Config, rt http.RoundTripper) (http.RoundTripper, error) {
	return withTransportConfig(config, func(c *transport.Config) (http.RoundTripper, error) { return transport.HTTPWrappersForConfig(c, rt) })
}

// withTransportConfig calls the function by with the transport configuration of a Config, and
// returns its result.
func withTransportConfig[T any](config *Config, by func(*transport.Config) (T, error)) (result T, err error) {
	c, err := config.TransportConfig()
	if err == nil {
		result, err = by(c)
	}
	return result, err
}

// Wrap adds a wrapper outside of the existing wrappers.
func (c *Config) Wrap(fn transport.WrapperFunc) {
	c.WrapTransport = transport.Wrappers(c.WrapTransport, fn)
}

// TransportConfig returns the transport configuration of a Config, including the credentials of
// AuthProvider or ExecProvider.
func (c *Config) TransportConfig() (*transport.Config, error) {
	if c.ExecProvider != nil && c.AuthProvider != nil {
		return nil, errors.New("execProvider and authProvider cannot be used in combination")
	}
	out := &transport.Config{
		UserAgent: c.UserAgent, Transport: c.Transport, WrapTransport: c.WrapTransport, DisableCompression: c.DisableCompression,
		TLS: transport.TLSConfig{
			Insecure: c.Insecure, ServerName: c.ServerName, CAFile: c.CAFile, CAData: c.CAData, CertFile: c.CertFile, CertData: c.CertData,
			KeyFile: c.KeyFile, KeyData: c.KeyData, NextProtos: c.NextProtos,
		},
		Username: c.Username, Password: c.Password, BearerToken: c.BearerToken, BearerTokenFile: c.BearerTokenFile,
		Impersonate: transport.ImpersonationConfig{
			UserName: c.Impersonate.UserName, UID: c.Impersonate.UID, Groups: c.Impersonate.Groups, Extra: c.Impersonate.Extra,
		},
		Proxy: c.Proxy,
	}
	if c.Dial != nil {
		out.DialHolder = &transport.DialHolder{Dial: c.Dial}
	}
	if c.ExecProvider != nil {
		if err := c.execCredentials(out); err != nil {
			return nil, err
		}
	}
	if c.AuthProvider != nil {
		provider, err := GetAuthProvider(c.Host, c.AuthProvider, c.AuthConfigPersister)
		if err != nil {
			return nil, err
		}
		out.Wrap(provider.WrapTransport)
	}
	return out, nil
}

// LoadTLSFiles reads the certificate, key and CA files of a Config into the data fields of the
// Config.
func LoadTLSFiles(c *Config) error {
	for _, part := range []struct {
		data *[]byte
		file string
	}{{&c.CAData, c.CAFile}, {&c.CertData, c.CertFile}, {&c.KeyData, c.KeyFile}} {
		if len(*part.data) > 0 || part.file == "" {
			continue
		}
		data, err := os.ReadFile(part.file)
		if err != nil {
			return err
		}
		*part.data = data
	}
	return nil
}
