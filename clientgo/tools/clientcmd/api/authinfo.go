package api

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// AuthInfo is who a user is, and how the user shows that.
type AuthInfo struct {
	// LocationOfOrigin is the file that this comes from. It is not written.
	LocationOfOrigin string `json:"-"`
	// ClientCertificate and ClientKey are files. Data in PEM goes before a file.
	ClientCertificate     string `json:"client-certificate,omitempty"`
	ClientCertificateData []byte `json:"client-certificate-data,omitempty"`
	ClientKey             string `json:"client-key,omitempty"`
	ClientKeyData         []byte `json:"client-key-data,omitempty" datapolicy:"security-key"`
	// Token is a bearer token. TokenFile is a file with one, which is read again from time to time, and goes before Token.
	Token     string `json:"token,omitempty" datapolicy:"token"`
	TokenFile string `json:"tokenFile,omitempty"`
	// Impersonate, and the fields after it, are whom to act as.
	Impersonate          string              `json:"act-as,omitempty"`
	ImpersonateUID       string              `json:"act-as-uid,omitempty"`
	ImpersonateGroups    []string            `json:"act-as-groups,omitempty"`
	ImpersonateUserExtra map[string][]string `json:"act-as-user-extra,omitempty"`
	// Username and Password are for basic authentication.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty" datapolicy:"password"`
	// AuthProvider names a plugin that is linked into the program.
	AuthProvider *AuthProviderConfig `json:"auth-provider,omitempty"`
	// Exec is a command that prints credentials.
	Exec *ExecConfig `json:"exec,omitempty"`
	// Extensions are parts that this package does not know, by name.
	Extensions map[string]runtime.Object `json:"extensions,omitempty"`
}

// NewAuthInfo returns an AuthInfo in which nothing is set.
func NewAuthInfo() *AuthInfo { return &AuthInfo{Extensions: map[string]runtime.Object{}} }

// AuthProviderConfig names a plugin that is linked into the program. It prints without its configuration, which may have secrets.
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

// ExecConfig is a command that prints credentials. It prints without arguments, environment and configuration, which may
// have secrets.
type ExecConfig struct {
	// Command is a path, or a name to be found in PATH.
	Command string       `json:"command"`
	Args    []string     `json:"args"`
	Env     []ExecEnvVar `json:"env"` // beside the program's own
	// APIVersion is the version of ExecCredential that the command reads and prints.
	APIVersion string `json:"apiVersion,omitempty"`
	// InstallHint is shown where there is no such command.
	InstallHint string `json:"installHint,omitempty"`
	// ProvideClusterInfo tells the command of the cluster, in KUBERNETES_EXEC_INFO.
	ProvideClusterInfo bool `json:"provideClusterInfo"`
	// Config is the cluster's extension "client.authentication.k8s.io/exec". The command gets it with the cluster.
	Config runtime.Object `json:"-"`
	// InteractiveMode is whether the command reads standard input.
	InteractiveMode ExecInteractiveMode `json:"interactiveMode,omitempty"`
	// StdinUnavailable is set by a program whose standard input is needed for something else, with the reason.
	StdinUnavailable        bool   `json:"-"`
	StdinUnavailableMessage string `json:"-"`
	// PluginPolicy says whether the command may run.
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

// ExecEnvVar is a variable of the environment.
type ExecEnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ExecInteractiveMode is whether a command reads standard input.
type ExecInteractiveMode string

const (
	// NeverExecInteractiveMode is of a command that does not read it.
	NeverExecInteractiveMode ExecInteractiveMode = "Never"
	// IfAvailableExecInteractiveMode is of a command that reads it where it can.
	IfAvailableExecInteractiveMode ExecInteractiveMode = "IfAvailable"
	// AlwaysExecInteractiveMode is of a command that does not run without it.
	AlwaysExecInteractiveMode ExecInteractiveMode = "Always"
)

// PluginPolicy says which commands may run.
type PluginPolicy struct {
	// PolicyType is one of the constants. "" is PluginPolicyAllowAll.
	PolicyType PolicyType `json:"-"`
	// Allowlist has the commands that may run. It must be nil unless the type is PluginPolicyAllowlist.
	Allowlist []AllowlistEntry `json:"-"`
}

// PolicyType is a kind of policy.
type PolicyType string

// The kinds of policies.
const (
	PluginPolicyAllowAll  PolicyType = "AllowAll"
	PluginPolicyDenyAll   PolicyType = "DenyAll"
	PluginPolicyAllowlist PolicyType = "Allowlist"
)

// AllowlistEntry is a command that may run.
type AllowlistEntry struct {
	// Command is a path, or a name to be found in PATH. It and the command must lead to the same file.
	Command string `json:"-"`
}
