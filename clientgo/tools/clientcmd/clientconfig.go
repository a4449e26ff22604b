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

// execExtension is the name of the cluster extension that exec plugins get.
const execExtension = "client.authentication.k8s.io/exec"

// ClientConfig provides the connection settings for the server that a program uses.
type ClientConfig interface {
	// RawConfig returns the config of the files, without overrides.
	RawConfig() (clientcmdapi.Config, error)
	// ClientConfig returns the connection to the server of the context.
	ClientConfig() (*restclient.Config, error)
	// Namespace returns the namespace, and reports whether an override has set it.
	Namespace() (string, bool, error)
	// ConfigAccess returns the ConfigAccess, which determines the files that are read and written.
	ConfigAccess() ConfigAccess
}

// OverridingClientConfig also returns the merged config with all overrides.
type OverridingClientConfig interface {
	ClientConfig
	// MergedRawConfig returns the config of the files, with the overrides applied.
	MergedRawConfig() (clientcmdapi.Config, error)
}

// PersistAuthProviderConfigForUser returns a persister for the configuration of a user's auth
// provider.
type PersistAuthProviderConfigForUser func(user string) restclient.AuthProviderConfigPersister

// DirectClientConfig is a loaded config with overrides. It is safe for concurrent use, unless it
// prompts for credentials.
type DirectClientConfig struct {
	config      clientcmdapi.Config
	contextName string
	overrides   *ConfigOverrides
	fallback    io.Reader
	access      ConfigAccess
	prompted    promptedCredentials // the user's input; used if fallback is set
}

// promptedCredentials has the user's input at the prompts.
type promptedCredentials struct{ username, password string }

var _ OverridingClientConfig = &DirectClientConfig{}

// NewDefaultClientConfig returns a ClientConfig for the current context of a config, with
// overrides. Its ConfigAccess uses kubectl's default files.
func NewDefaultClientConfig(config clientcmdapi.Config, overrides *ConfigOverrides) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: config.CurrentContext, overrides: overrides, access: NewDefaultClientConfigLoadingRules()}
}

// NewNonInteractiveClientConfig returns a ClientConfig for a context of a config, with overrides.
// An empty contextName means the current context.
func NewNonInteractiveClientConfig(config clientcmdapi.Config, contextName string, overrides *ConfigOverrides, configAccess ConfigAccess) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: contextName, overrides: overrides, access: configAccess}
}

// NewInteractiveClientConfig is NewNonInteractiveClientConfig for a program with a user. If the
// config has no credentials, it prompts for a username and a password.
func NewInteractiveClientConfig(config clientcmdapi.Config, contextName string, overrides *ConfigOverrides, fallbackReader io.Reader, configAccess ConfigAccess) OverridingClientConfig {
	return &DirectClientConfig{config: config, contextName: contextName, overrides: overrides, fallback: fallbackReader, access: configAccess}
}

// NewClientConfigFromBytes returns a ClientConfig for the current context of a file's content.
func NewClientConfigFromBytes(configBytes []byte) (OverridingClientConfig, error) {
	config, err := Load(configBytes)
	if err != nil {
		return nil, err
	}
	return &DirectClientConfig{config: *config}, nil
}

// RESTConfigFromKubeConfig returns the connection to the server of the current context of a file's
// content.
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
	// Report a missing context first, because it causes further errors.
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
	// Send no credentials to a server without TLS: anyone on the network could read them.
	if !restclient.IsConfigTransportTLS(*result) {
		return result, nil
	}
	if err := config.setCredentials(result, user, cluster); err != nil {
		return nil, err
	}
	result.CAFile, result.CAData = cluster.CertificateAuthority, cluster.CertificateAuthorityData
	result.Insecure, result.ServerName = cluster.InsecureSkipTLSVerify, cluster.TLSServerName
	return result, nil
}

// setCredentials sets the credentials of a user.
func (config *DirectClientConfig) setCredentials(result *restclient.Config, user clientcmdapi.AuthInfo, cluster clientcmdapi.Cluster) error {
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
	return config.promptForCredentials(result)
}

// hasCredentials reports whether a configuration has credentials. If it has no credentials,
// promptForCredentials prompts for them.
func hasCredentials(c *restclient.Config) bool {
	return c.BearerToken != "" || c.CertFile != "" || len(c.CertData) > 0 || c.Username != "" || c.ExecProvider != nil || c.AuthProvider != nil
}

// promptForCredentials prompts the user for the username and password, once.
func (config *DirectClientConfig) promptForCredentials(result *restclient.Config) error {
	if config.prompted == (promptedCredentials{}) {
		info, err := NewPromptingAuthLoader(config.fallback).Prompt()
		if err != nil {
			return err
		}
		config.prompted = promptedCredentials{info.User, info.Password}
	}
	result.Username, result.Password = config.prompted.username, config.prompted.password
	return nil
}

// printable replaces invisible characters by their codes. Invisible characters could control the
// user's terminal or reverse the direction of the text.
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

// ConfirmUsable returns an error with every mistake in the context, its cluster and its user, after
// the overrides are applied.
func (config *DirectClientConfig) ConfirmUsable() error {
	var wrong []error
	// If an override sets the context, its existence is not checked here: ClientConfig reports a
	// missing context.
	name := config.contextName
	if name == "" {
		name = config.config.CurrentContext
	}
	if name != "" && config.config.Contexts[name] == nil {
		wrong = append(wrong, &contextNotFoundError{name})
	}
	// A missing user or cluster counts as empty.
	user, _ := config.user()
	cluster, _ := config.cluster()
	userName, _ := config.userName()
	clusterName, _ := config.clusterName()
	wrong = append(wrong, checkUser(userName, &user)...)
	wrong = append(wrong, checkCluster(clusterName, &cluster)...)
	// If the only mistake is a cluster without a server, nothing is configured. The text of
	// ErrEmptyConfig says what to do.
	if len(wrong) == 1 && wrong[0] == ErrEmptyCluster {
		return newInvalidError([]error{ErrEmptyConfig})
	}
	return newInvalidError(wrong)
}

// currentContext returns the context's name, and whether an override has set it. The context need
// not exist: ConfirmUsable reports a missing context, unless an override has set the name.
func (config *DirectClientConfig) currentContext() (name string, overridden bool) {
	if config.overrides != nil && config.overrides.CurrentContext != "" {
		return config.overrides.CurrentContext, true
	}
	if config.contextName != "" {
		return config.contextName, false
	}
	return config.config.CurrentContext, false
}

// userName returns the name in the overrides and true, or else the name of the context's user and
// false.
func (config *DirectClientConfig) userName() (name string, overridden bool) {
	if config.overrides != nil && config.overrides.Context.AuthInfo != "" {
		return config.overrides.Context.AuthInfo, true
	}
	context, _ := config.context()
	return context.AuthInfo, false
}

// clusterName returns the name in the overrides and true, or else the name of the context's cluster
// and false.
func (config *DirectClientConfig) clusterName() (name string, overridden bool) {
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
	// An overriding file replaces the config's data, and overriding data replaces the config's
	// file.
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
	// If an override sets one of the settings about trust in the server, ignore all of these
	// settings in the file.
	if over.CertificateAuthority != "" || len(over.CertificateAuthorityData) > 0 || over.InsecureSkipTLSVerify {
		merged.InsecureSkipTLSVerify = over.InsecureSkipTLSVerify
		merged.CertificateAuthority, merged.CertificateAuthorityData = over.CertificateAuthority, over.CertificateAuthorityData
	}
	// If an override sets the server, ignore the certificate name in the file: it belongs to the
	// file's server.
	if over.Server != "" || over.TLSServerName != "" {
		merged.TLSServerName = over.TLSServerName
	}
	return merged, nil
}
