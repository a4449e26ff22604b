package v1

// AuthInfo is a user and the user's credentials.
type AuthInfo struct {
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
	Impersonate          string              `json:"as,omitempty"`
	ImpersonateUID       string              `json:"as-uid,omitempty"`
	ImpersonateGroups    []string            `json:"as-groups,omitempty"`
	ImpersonateUserExtra map[string][]string `json:"as-user-extra,omitempty"`
	// Username and Password are for basic authentication.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty" datapolicy:"password"`
	// AuthProvider is a plugin that is linked into the program.
	AuthProvider *AuthProviderConfig `json:"auth-provider,omitempty"`
	// Exec is a command that prints credentials.
	Exec       *ExecConfig      `json:"exec,omitempty"`
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// AuthProviderConfig configures a plugin that is linked into the program.
type AuthProviderConfig struct {
	Name   string            `json:"name"`
	Config map[string]string `json:"config"`
}

// ExecConfig is a command that prints credentials.
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
	// InteractiveMode determines whether the command reads standard input. It is required for
	// version v1 of ExecCredential. For older versions it defaults to
	// IfAvailableExecInteractiveMode.
	InteractiveMode ExecInteractiveMode `json:"interactiveMode,omitempty"`
}

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
