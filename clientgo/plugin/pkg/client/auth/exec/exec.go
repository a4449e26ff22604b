// Package exec gets credentials from a command that prints them. It uses kinform's package
// execauth. This package only adds the credentials to transports, in the way that programs of
// client-go expect.
package exec

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/klog/v2"

	kinform "github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
)

// Authenticator authenticates requests with the credential that a command prints. It is safe for
// concurrent use.
type Authenticator struct {
	plugin   *execauth.Plugin
	unusable error // why the command can't run; requests that need a credential return it

	// All transports of the authenticator have the same getCert and dial, so that they can share
	// connections.
	getCert *transport.GetCertHolder
	dial    *transport.DialHolder
	tracker *connrotation.ConnectionTracker

	mu      sync.Mutex // guards following
	current *kinform.Credential
}

// authenticators has one authenticator for each command and cluster, so that all clients of a
// program share its credentials.
var authenticators = struct {
	mu sync.Mutex // guards following
	by map[string]*Authenticator
}{by: map[string]*Authenticator{}}

// GetAuthenticator returns the authenticator of a command. It does not run the command. If
// config.ProvideClusterInfo is set, the command receives cluster; otherwise cluster may be nil.
// Calls with equal config and cluster return the same authenticator.
func GetAuthenticator(config *clientcmdapi.ExecConfig, cluster *clientauthentication.Cluster) (*Authenticator, error) {
	if config.ProvideClusterInfo && cluster == nil {
		return nil, errors.New("exec plugin: the cluster that the plugin is to be told of is missing")
	}
	if err := ValidatePluginPolicy(config.PluginPolicy); err != nil {
		return nil, fmt.Errorf("invalid plugin policy: %w", err)
	}
	opts, err := options(config, cluster)
	if err != nil {
		return nil, err
	}
	key, err := json.Marshal([]any{config, config.Config, config.StdinUnavailable, config.StdinUnavailableMessage, config.PluginPolicy.PolicyType, allowed(config.PluginPolicy), cluster})
	if err != nil {
		return nil, fmt.Errorf("exec plugin: %w", err)
	}
	authenticators.mu.Lock()
	defer authenticators.mu.Unlock()
	if a, ok := authenticators.by[string(key)]; ok {
		return a, nil
	}
	a, err := newAuthenticator(config, opts)
	if err != nil {
		return nil, err
	}
	authenticators.by[string(key)] = a
	return a, nil
}

func newAuthenticator(config *clientcmdapi.ExecConfig, opts execauth.Options) (*Authenticator, error) {
	a := &Authenticator{tracker: connrotation.NewConnectionTracker(), unusable: unusable(config)}
	if a.unusable == nil {
		// "." is not a command, so running it fails
		plugin, err := execauth.New(cmp.Or(config.Command, "."), opts)
		if err != nil {
			return nil, fmt.Errorf("exec plugin: %w", err)
		}
		a.plugin = plugin
	}
	a.getCert = &transport.GetCertHolder{GetCert: a.certificate}
	usual := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	a.dial = &transport.DialHolder{Dial: connrotation.NewDialerWithTracker(usual.DialContext, a.tracker).DialContext}
	return a, nil
}

// unusable returns why the command of config can't run, or nil. As in client-go, a client can be
// made nevertheless; requests that need a credential return this error.
func unusable(config *clientcmdapi.ExecConfig) error {
	const text = "exec plugin cannot support interactive mode: "
	switch config.InteractiveMode {
	case clientcmdapi.NeverExecInteractiveMode, clientcmdapi.IfAvailableExecInteractiveMode:
	case clientcmdapi.AlwaysExecInteractiveMode:
		if config.StdinUnavailable {
			if config.StdinUnavailableMessage == "" {
				return errors.New(text + "standard input is unavailable")
			}
			return fmt.Errorf(text+"standard input is unavailable: %s", config.StdinUnavailableMessage)
		}
	default:
		return fmt.Errorf(text+"unknown interactiveMode: %q", config.InteractiveMode)
	}
	return nil
}

// options converts config and cluster to the options of package execauth.
func options(config *clientcmdapi.ExecConfig, cluster *clientauthentication.Cluster) (execauth.Options, error) {
	opts := execauth.Options{
		APIVersion:      config.APIVersion,
		Args:            kinform.Secrets(config.Args...),
		InstallHint:     config.InstallHint,
		Stderr:          os.Stderr,
		OnExit:          countRun,
		InteractiveMode: execauth.InteractiveMode(config.InteractiveMode),
		Policy:          execauth.Policy{Type: execauth.PolicyType(config.PluginPolicy.PolicyType), Allowed: allowed(config.PluginPolicy)},
	}
	switch config.APIVersion {
	case execauth.V1, execauth.V1beta1:
	default:
		return opts, fmt.Errorf("exec plugin: invalid apiVersion %q", config.APIVersion)
	}
	for _, variable := range config.Env {
		opts.Env = append(opts.Env, kinform.Secrets(variable.Name+"="+variable.Value)...)
	}
	if config.StdinUnavailable {
		opts.InteractiveMode = execauth.Never
	}
	if config.ProvideClusterInfo {
		configJSON, err := json.Marshal(cluster.Config)
		if err != nil {
			return opts, fmt.Errorf("exec plugin: the cluster's configuration of the plugin: %w", err)
		}
		if unknown, ok := cluster.Config.(*runtime.Unknown); ok {
			configJSON = unknown.Raw
		}
		if cluster.Config == nil {
			configJSON = nil
		}
		opts.Cluster = &execauth.Cluster{
			Server: cluster.Server, TLSServerName: cluster.TLSServerName, Insecure: cluster.InsecureSkipTLSVerify, CAData: cluster.CertificateAuthorityData,
			ProxyURL: kinform.NewSecret(cluster.ProxyURL), DisableCompression: cluster.DisableCompression, Config: kinform.NewSecret(configJSON),
		}
	}
	return opts, nil
}

func allowed(policy clientcmdapi.PluginPolicy) (commands []string) {
	for _, entry := range policy.Allowlist {
		commands = append(commands, entry.Command)
	}
	return commands
}

// ValidatePluginPolicy returns an error if a policy is not valid.
func ValidatePluginPolicy(policy clientcmdapi.PluginPolicy) error {
	switch policy.PolicyType {
	case "", clientcmdapi.PluginPolicyAllowAll, clientcmdapi.PluginPolicyDenyAll:
		if policy.Allowlist != nil {
			return fmt.Errorf("misconfigured credential plugin allowlist: plugin policy is %q but allowlist is non-nil", policy.PolicyType)
		}
	case clientcmdapi.PluginPolicyAllowlist:
		if policy.Allowlist == nil {
			return fmt.Errorf("credential plugin policy set to %q, but allowlist is unspecified", policy.PolicyType)
		}
		if len(policy.Allowlist) == 0 {
			return fmt.Errorf("credential plugin policy set to %q, but allowlist is empty; use %q policy instead", policy.PolicyType, clientcmdapi.PluginPolicyDenyAll)
		}
		for i, entry := range policy.Allowlist {
			if entry.Command == "" {
				return fmt.Errorf("misconfigured credential plugin allowlist: empty allowlist entry #%d", i+1)
			}
			if clean := filepath.Clean(entry.Command); clean != entry.Command {
				return fmt.Errorf("non-normalized file path: %q vs %q", entry.Command, clean)
			}
		}
	default:
		return fmt.Errorf("unknown plugin policy: %q", policy.PolicyType)
	}
	return nil
}

// UpdateTransportConfig adds authentication to a transport configuration. If the configuration has
// a token, a password or a certificate, these take precedence, and UpdateTransportConfig changes
// nothing.
func (a *Authenticator) UpdateTransportConfig(c *transport.Config) error {
	if c.HasTokenAuth() || c.HasBasicAuth() || c.HasCertAuth() {
		return nil
	}
	if c.HasCertCallback() {
		return errors.New("can't add TLS certificate callback: transport.Config.TLS.GetCert already set")
	}
	c.Wrap(func(rt http.RoundTripper) http.RoundTripper { return &roundTripper{a, rt} })
	c.TLS.GetCertHolder = a.getCert
	switch {
	case c.DialHolder == nil:
		c.DialHolder = a.dial
	case c.DialHolder.Dial == nil:
		return errors.New("invalid transport.Config.DialHolder: wrapped Dial function is nil")
	default:
		// The program's own dialer still opens the connections. The tracker closes them when the
		// certificate changes.
		c.DialHolder = &transport.DialHolder{Dial: connrotation.NewDialerWithTracker(c.DialHolder.Dial, a.tracker).DialContext}
	}
	return nil
}

// credential returns the current credential. It never returns the argument rejected, a credential
// that a server has rejected. If the certificate has changed, credential closes the connections
// that use the old certificate.
//
// As in client-go, the command runs to its end even if the request that started it is cancelled.
// Otherwise, if the command took longer than the timeout of requests, there would never be a
// credential.
func (a *Authenticator) credential(ctx context.Context, rejected *kinform.Credential) (*kinform.Credential, error) {
	if a.unusable != nil {
		return nil, a.unusable
	}
	next, err := a.plugin.Credential(context.WithoutCancel(ctx), rejected)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	before := a.current
	a.current = next
	a.mu.Unlock()
	if before == next {
		return next, nil
	}
	if before != nil && !sameCertificate(before, next) {
		if old := certificateOf(before); old != nil && old.Leaf != nil {
			metrics.ClientCertRotationAge.Observe(time.Since(old.Leaf.NotBefore))
		}
		a.tracker.CloseAll()
	}
	a.recordExpiry(certificateOf(next))
	return next, nil
}

func sameCertificate(a, b *kinform.Credential) bool {
	one, other := certificateOf(a), certificateOf(b)
	if one == nil || other == nil {
		return one == other
	}
	return len(one.Certificate) > 0 && len(other.Certificate) > 0 && string(one.Certificate[0]) == string(other.Certificate[0])
}

func certificateOf(c *kinform.Credential) *tls.Certificate {
	if c.Certificate == nil {
		return nil
	}
	return c.Certificate()
}

// certificate returns the client certificate for the handshake. It returns nil if the credential
// has no certificate.
func (a *Authenticator) certificate() (*tls.Certificate, error) {
	c, err := a.credential(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	return certificateOf(c), nil
}

// roundTripper sets the token of requests.
type roundTripper struct {
	a    *Authenticator
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper. After a 401 response, it refreshes the credential for the
// next request.
func (r *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" {
		return r.base.RoundTrip(req)
	}
	c, err := r.a.credential(req.Context(), nil)
	if err != nil {
		return nil, fmt.Errorf("getting credentials: %w", err)
	}
	if token := c.Token.Reveal(); token != "" {
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := r.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized {
		if _, err := r.a.credential(req.Context(), c); err != nil {
			klog.FromContext(req.Context()).Error(err, "Refreshing credentials")
		}
	}
	return resp, nil
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (r *roundTripper) WrappedRoundTripper() http.RoundTripper { return r.base }
