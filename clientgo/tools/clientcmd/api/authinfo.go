package api

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// AuthInfo is a user and the user's credentials.
type AuthInfo struct {
	// LocationOfOrigin is the file that this user was read from. It is not written.
	LocationOfOrigin string `json:"-"`
	// ClientCertificate and ClientKey are file paths. PEM data takes precedence over a file.
	ClientCertificate     string `json:"client-certificate,omitempty"`
	ClientCertificateData []byte `json:"client-certificate-data,omitempty"`
	ClientKey             string `json:"client-key,omitempty"`
	ClientKeyData         []byte `json:"client-key-data,omitempty" datapolicy:"security-key"`
	// Token is a bearer token. TokenFile is a file with a token, which is re-read periodically.
	// TokenFile takes precedence over Token.
	Token     string `json:"token,omitempty" datapolicy:"token"`
	TokenFile string `json:"tokenFile,omitempty"`
	// Impersonate and the following fields describe the user to act as.
	Impersonate          string              `json:"act-as,omitempty"`
	ImpersonateUID       string              `json:"act-as-uid,omitempty"`
	ImpersonateGroups    []string            `json:"act-as-groups,omitempty"`
	ImpersonateUserExtra map[string][]string `json:"act-as-user-extra,omitempty"`
	// Username and Password are for basic authentication.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty" datapolicy:"password"`
	// AuthProvider is a plugin that is linked into the program.
	AuthProvider *AuthProviderConfig `json:"auth-provider,omitempty"`
	// Exec is a command that prints credentials.
	Exec *ExecConfig `json:"exec,omitempty"`
	// Extensions has parts that are unknown to this package, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewAuthInfo returns an empty AuthInfo.
func NewAuthInfo() *AuthInfo { return &AuthInfo{Extensions: map[string]runtime.Object{}} }

// AuthProviderConfig configures a plugin that is linked into the program. Its string form hides the
// configuration, which may contain secrets.
type AuthProviderConfig struct {
	Name   string            `json:"name"`
	Config map[string]string `json:"config,omitempty"`
}

// String implements fmt.Stringer.
func (in AuthProviderConfig) String() string {
	config := "<nil>"
	if in.Config != nil {
		config = "--- REDACTED ---"
	}
	return fmt.Sprintf("api.AuthProviderConfig{Name: %q, Config: map[string]string{%s}}", in.Name, config)
}

// GoString implements fmt.GoStringer.
func (in AuthProviderConfig) GoString() string { return in.String() }

// ExecConfig is a command that prints credentials. Its string form hides arguments, environment and
// configuration, which may contain secrets.
type ExecConfig struct {
	// Command is a path, or a name that is looked up in PATH.
	Command string       `json:"command"`
	Args    []string     `json:"args"`
	Env     []ExecEnvVar `json:"env"` // in addition to the program's own environment
	// APIVersion is the version of ExecCredential that the command reads and prints.
	APIVersion string `json:"apiVersion,omitempty"`
	// InstallHint is shown if the command does not exist.
	InstallHint string `json:"installHint,omitempty"`
	// ProvideClusterInfo passes the cluster to the command in KUBERNETES_EXEC_INFO.
	ProvideClusterInfo bool `json:"provideClusterInfo"`
	// Config is the cluster's extension "client.authentication.k8s.io/exec". The command gets it as
	// a part of the cluster.
	Config runtime.Object `json:"-"`
	// InteractiveMode determines whether the command reads standard input.
	InteractiveMode ExecInteractiveMode `json:"interactiveMode,omitempty"`
	// StdinUnavailable is set by a program that needs standard input itself.
	// StdinUnavailableMessage has the reason.
	StdinUnavailable        bool   `json:"-"`
	StdinUnavailableMessage string `json:"-"`
	// PluginPolicy decides whether the command may run.
	PluginPolicy PluginPolicy `json:"-"`
}

// String implements fmt.Stringer.
func (in ExecConfig) String() string {
	args, env, config := "[]string(nil)", "[]ExecEnvVar(nil)", "runtime.Object(nil)"
	if len(in.Args) > 0 {
		args = `[]string{"--- REDACTED ---"}`
	}
	if len(in.Env) > 0 {
		env = "[]ExecEnvVar{--- REDACTED ---}"
	}
	if in.Config != nil {
		config = "runtime.Object(--- REDACTED ---)"
	}
	return fmt.Sprintf("api.ExecConfig{Command: %q, Args: %s, Env: %s, APIVersion: %q, ProvideClusterInfo: %t, Config: %s, StdinUnavailable: %t}",
		in.Command, args, env, in.APIVersion, in.ProvideClusterInfo, config, in.StdinUnavailable)
}

// GoString implements fmt.GoStringer.
func (in ExecConfig) GoString() string { return in.String() }

// ExecEnvVar is an environment variable.
type ExecEnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ExecInteractiveMode determines whether a command reads standard input.
type ExecInteractiveMode string

const (
	// NeverExecInteractiveMode means that the command does not read standard input.
	NeverExecInteractiveMode ExecInteractiveMode = "Never"
	// IfAvailableExecInteractiveMode means that the command reads standard input if it is
	// available.
	IfAvailableExecInteractiveMode ExecInteractiveMode = "IfAvailable"
	// AlwaysExecInteractiveMode means that the command requires standard input.
	AlwaysExecInteractiveMode ExecInteractiveMode = "Always"
)

// PluginPolicy decides which commands may run.
type PluginPolicy struct {
	// PolicyType is one of the constants. "" means PluginPolicyAllowAll.
	PolicyType PolicyType `json:"-"`
	// Allowlist has the allowed commands. It must be nil unless the type is PluginPolicyAllowlist.
	Allowlist []AllowlistEntry `json:"-"`
}

// PolicyType is the kind of a policy.
type PolicyType string

// The kinds of policies.
const (
	PluginPolicyAllowAll  PolicyType = "AllowAll"
	PluginPolicyDenyAll   PolicyType = "DenyAll"
	PluginPolicyAllowlist PolicyType = "Allowlist"
)

// AllowlistEntry is an allowed command.
type AllowlistEntry struct {
	// Command is a path, or a name that is looked up in PATH. The executed command must resolve to
	// the same file.
	Command string `json:"-"`
}
