package clientcmd

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode"

	restclient "k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// execExtension is the cluster's extension that exec plugins get.
const execExtension = "client.authentication.k8s.io/exec"

// ClientConfig is where a program finds its server.
type ClientConfig interface {
	// RawConfig returns what the files have.
	RawConfig() (clientcmdapi.Config, error)
	// ClientConfig returns how to reach the server of the context.
	ClientConfig() (*restclient.Config, error)
	// Namespace returns the namespace, and whether it is an override.
	Namespace() (string, bool, error)
	// ConfigAccess returns which files are read.
	ConfigAccess() ConfigAccess
}

// OverridingClientConfig can tell what the files have with all overrides.
type OverridingClientConfig interface {
	ClientConfig
	// MergedRawConfig returns what the files have, with the overrides.
	MergedRawConfig() (clientcmdapi.Config, error)
}

// PersistAuthProviderConfigForUser returns what keeps the configuration of a user's auth provider.
type PersistAuthProviderConfigForUser func(user string) restclient.AuthProviderConfigPersister

// DirectClientConfig is a config that has been read, with overrides. Safe for concurrent use unless it asks for a password.
type DirectClientConfig struct {
	config      clientcmdapi.Config
	contextName string
	overrides   *ConfigOverrides
	fallback    io.Reader
	access      ConfigAccess
	prompted    prompted // with a fallback: what was asked for
}

// prompted is what the user has typed.
type prompted struct{ username, password string }

var _ OverridingClientConfig = &DirectClientConfig{}

// NewDefaultClientConfig returns the current context of a config, with overrides. Its ConfigAccess is that of kubectl's files.
func NewDefaultClientConfig(config clientcmdapi.Config, overrides *ConfigOverrides) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: config.CurrentContext, overrides: overrides, access: NewDefaultClientConfigLoadingRules()}
}

// NewNonInteractiveClientConfig returns a context of a config, with overrides. Without a name it is the current one.
func NewNonInteractiveClientConfig(config clientcmdapi.Config, contextName string, overrides *ConfigOverrides, configAccess ConfigAccess) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: contextName, overrides: overrides, access: configAccess}
}

// NewInteractiveClientConfig is NewNonInteractiveClientConfig, and asks the user for a name and a password if the config has no credentials.
func NewInteractiveClientConfig(config clientcmdapi.Config, contextName string, overrides *ConfigOverrides, fallbackReader io.Reader, configAccess ConfigAccess) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: contextName, overrides: overrides, fallback: fallbackReader, access: configAccess}
}

// NewClientConfigFromBytes returns the current context of a file's content.
func NewClientConfigFromBytes(configBytes []byte) (OverridingClientConfig, error) {
	config, err := Load(configBytes)
	if err != nil {
		return nil, err
	}
	return &DirectClientConfig{config: *config}, nil
}

// RESTConfigFromKubeConfig returns how to reach the server of the current context of a file's content.
func RESTConfigFromKubeConfig(configBytes []byte) (*restclient.Config, error) {
	config, err := NewClientConfigFromBytes(configBytes)
	if err != nil {
		return nil, err
	}
	return config.ClientConfig()
}

// RawConfig implements ClientConfig.
func (config *DirectClientConfig) RawConfig() (clientcmdapi.Config, error) { return config.config, nil }

// ConfigAccess implements ClientConfig.
func (config *DirectClientConfig) ConfigAccess() ConfigAccess { return config.access }

// MergedRawConfig implements OverridingClientConfig.
func (config *DirectClientConfig) MergedRawConfig() (clientcmdapi.Config, error) {
	if err := config.ConfirmUsable(); err != nil {
		return clientcmdapi.Config{}, err
	}
	merged := config.config.DeepCopy()
	context, err := config.context()
	if err != nil {
		return clientcmdapi.Config{}, err
	}
	cluster, err := config.cluster()
	if err != nil {
		return clientcmdapi.Config{}, err
	}
	user, err := config.user()
	if err != nil {
		return clientcmdapi.Config{}, err
	}
	name, _ := config.currentContext()
	merged.CurrentContext = name
	merged.Contexts[name] = &context
	merged.AuthInfos[context.AuthInfo] = &user
	merged.Clusters[context.Cluster] = &cluster
	return *merged, nil
}

// ClientConfig implements ClientConfig.
func (config *DirectClientConfig) ClientConfig() (*restclient.Config, error) {
	// The context that does not exist is found first: what is wrong with the rest follows from it.
	user, err := config.user()
	if err != nil {
		return nil, err
	}
	if _, err := config.context(); err != nil {
		return nil, err
	}
	cluster, err := config.cluster()
	if err != nil {
		return nil, err
	}
	if err := config.ConfirmUsable(); err != nil {
		return nil, err
	}
	result := &restclient.Config{Host: cluster.Server, DisableCompression: cluster.DisableCompression}
	if cluster.ProxyURL != "" {
		proxy, err := parseProxyURL(cluster.ProxyURL)
		if err != nil {
			return nil, err
		}
		result.Proxy = http.ProxyURL(proxy)
	}
	if config.overrides != nil && config.overrides.Timeout != "" {
		if result.Timeout, err = ParseTimeout(config.overrides.Timeout); err != nil {
			return nil, err
		}
	}
	if u, err := url.ParseRequestURI(result.Host); err == nil && u.Opaque == "" && len(u.Path) > 1 {
		u.RawQuery, u.Fragment = "", ""
		result.Host = u.String()
	}
	result.Impersonate = restclient.ImpersonationConfig{
		UserName: user.Impersonate, UID: user.ImpersonateUID, Groups: user.ImpersonateGroups, Extra: user.ImpersonateUserExtra,
	}
	// Credentials are not for a server without TLS: anybody on the way could read them.
	if !restclient.IsConfigTransportTLS(*result) {
		return result, nil
	}
	if err := config.identify(result, user, cluster); err != nil {
		return nil, err
	}
	result.CAFile, result.CAData = cluster.CertificateAuthority, cluster.CertificateAuthorityData
	result.Insecure, result.ServerName = cluster.InsecureSkipTLSVerify, cluster.TLSServerName
	return result, nil
}

// identify sets the credentials of a user.
func (config *DirectClientConfig) identify(result *restclient.Config, user clientcmdapi.AuthInfo, cluster clientcmdapi.Cluster) error {
	result.BearerToken, result.BearerTokenFile = user.Token, user.TokenFile
	if user.Token == "" && user.TokenFile != "" {
		token, err := os.ReadFile(user.TokenFile)
		if err != nil {
			return err
		}
		result.BearerToken = string(token)
	}
	if user.ClientCertificate != "" || len(user.ClientCertificateData) > 0 {
		result.CertFile, result.CertData = user.ClientCertificate, user.ClientCertificateData
		result.KeyFile, result.KeyData = user.ClientKey, user.ClientKeyData
	}
	if user.Username != "" || user.Password != "" {
		result.Username, result.Password = user.Username, user.Password
	}
	if user.AuthProvider != nil {
		result.AuthProvider = user.AuthProvider
		if config.access != nil {
			name := ""
			if context, err := config.context(); err == nil {
				name = context.AuthInfo
			}
			result.AuthConfigPersister = PersisterForUser(config.access, name)
		}
	}
	if user.Exec != nil {
		result.ExecProvider = user.Exec.DeepCopy()
		result.ExecProvider.InstallHint = printable(user.Exec.InstallHint)
		result.ExecProvider.Config = cluster.Extensions[execExtension]
	}
	if config.fallback == nil || hasCredentials(result) {
		return nil
	}
	return config.ask(result)
}

// hasCredentials says whether there is a need to ask the user.
func hasCredentials(c *restclient.Config) bool {
	return c.BearerToken != "" || c.CertFile != "" || len(c.CertData) > 0 || c.Username != "" || c.ExecProvider != nil || c.AuthProvider != nil
}

// ask has the user type what is missing, once.
func (config *DirectClientConfig) ask(result *restclient.Config) error {
	if config.prompted == (prompted{}) {
		info, err := NewPromptingAuthLoader(config.fallback).Prompt()
		if err != nil {
			return err
		}
		config.prompted = prompted{info.User, info.Password}
	}
	result.Username, result.Password = config.prompted.username, config.prompted.password
	return nil
}

// printable shows the codes of characters that nobody sees, which would control the user's terminal or turn the text round.
func printable(hint string) string {
	var b strings.Builder
	for _, r := range hint {
		if r >= '\t' && r <= '\r' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "%U", r)
		}
	}
	return b.String()
}

// Namespace implements ClientConfig.
func (config *DirectClientConfig) Namespace() (string, bool, error) {
	if config.overrides != nil && config.overrides.Context.Namespace != "" {
		return config.overrides.Context.Namespace, true, nil
	}
	if err := config.ConfirmUsable(); err != nil {
		return "", false, err
	}
	context, err := config.context()
	if err != nil {
		return "", false, err
	}
	if context.Namespace == "" {
		return "default", false, nil
	}
	return context.Namespace, false, nil
}

// ConfirmUsable says everything that is wrong with the context, its cluster and its user, overrides included.
func (config *DirectClientConfig) ConfirmUsable() error {
	var wrong []error
	// An override is not looked at here: where it leads nowhere, ClientConfig says so.
	name := config.contextName
	if name == "" {
		name = config.config.CurrentContext
	}
	if name != "" && config.config.Contexts[name] == nil {
		wrong = append(wrong, &contextNotFoundError{name})
	}
	// A user or a cluster that does not exist is as one that has nothing.
	user, _ := config.user()
	cluster, _ := config.cluster()
	userName, _ := config.userName()
	clusterName, _ := config.clusterName()
	wrong = append(wrong, checkUser(userName, &user)...)
	wrong = append(wrong, checkCluster(clusterName, &cluster)...)
	// Where there is nothing but a cluster without a server, nothing is configured, and there is a hint what to do.
	if len(wrong) == 1 && wrong[0] == ErrEmptyCluster {
		return newInvalidError([]error{ErrEmptyConfig})
	}
	return newInvalidError(wrong)
}

// currentContext returns the name of the context, and whether it is an override. One that is not may be missing until ConfirmUsable says so.
func (config *DirectClientConfig) currentContext() (name string, overridden bool) {
	if config.overrides != nil && config.overrides.CurrentContext != "" {
		return config.overrides.CurrentContext, true
	}
	if config.contextName != "" {
		return config.contextName, false
	}
	return config.config.CurrentContext, false
}

// userName returns the name of the user, and whether somebody asked for it. Otherwise it is that of the context.
func (config *DirectClientConfig) userName() (name string, asked bool) {
	if config.overrides != nil && config.overrides.Context.AuthInfo != "" {
		return config.overrides.Context.AuthInfo, true
	}
	context, _ := config.context()
	return context.AuthInfo, false
}

// clusterName returns the name of the cluster, and whether somebody asked for it. Otherwise it is that of the context.
func (config *DirectClientConfig) clusterName() (name string, asked bool) {
	if config.overrides != nil && config.overrides.Context.Cluster != "" {
		return config.overrides.Context.Cluster, true
	}
	context, _ := config.context()
	return context.Cluster, false
}

// context returns the context, with overrides.
func (config *DirectClientConfig) context() (merged clientcmdapi.Context, err error) {
	merged = *clientcmdapi.NewContext()
	name, asked := config.currentContext()
	if found := config.config.Contexts[name]; found != nil {
		override(&merged, *found)
	} else if asked {
		return clientcmdapi.Context{}, fmt.Errorf("context %q does not exist", name)
	}
	if config.overrides != nil {
		override(&merged, config.overrides.Context)
	}
	return merged, nil
}

// user returns the user of the context, with overrides.
func (config *DirectClientConfig) user() (merged clientcmdapi.AuthInfo, err error) {
	merged = *clientcmdapi.NewAuthInfo()
	name, asked := config.userName()
	if found := config.config.AuthInfos[name]; found != nil {
		override(&merged, *found)
	} else if asked {
		return clientcmdapi.AuthInfo{}, fmt.Errorf("auth info %q does not exist", name)
	}
	if config.overrides == nil {
		return merged, nil
	}
	over := config.overrides.AuthInfo
	// A file and data of the same thing contradict each other.
	if over.ClientCertificate != "" || len(over.ClientCertificateData) > 0 {
		merged.ClientCertificate, merged.ClientCertificateData = "", nil
	}
	if over.ClientKey != "" || len(over.ClientKeyData) > 0 {
		merged.ClientKey, merged.ClientKeyData = "", nil
	}
	if over.Token != "" && over.TokenFile == "" {
		merged.TokenFile = ""
	}
	override(&merged, over)
	return merged, nil
}

// cluster returns the cluster of the context, with overrides.
func (config *DirectClientConfig) cluster() (merged clientcmdapi.Cluster, err error) {
	merged = *clientcmdapi.NewCluster()
	if config.overrides != nil {
		override(&merged, config.overrides.ClusterDefaults)
	}
	name, asked := config.clusterName()
	if found := config.config.Clusters[name]; found != nil {
		override(&merged, *found)
	} else if asked {
		return clientcmdapi.Cluster{}, fmt.Errorf("cluster %q does not exist", name)
	}
	if config.overrides == nil {
		return merged, nil
	}
	over := config.overrides.ClusterInfo
	override(&merged, over)
	// Who says how to trust the server means it: what the file says of that no longer counts.
	if over.CertificateAuthority != "" || len(over.CertificateAuthorityData) > 0 || over.InsecureSkipTLSVerify {
		merged.InsecureSkipTLSVerify = over.InsecureSkipTLSVerify
		merged.CertificateAuthority, merged.CertificateAuthorityData = over.CertificateAuthority, over.CertificateAuthorityData
	}
	// The name of another server's certificate does not fit this one's.
	if over.Server != "" || over.TLSServerName != "" {
		merged.TLSServerName = over.TLSServerName
	}
	return merged, nil
}
