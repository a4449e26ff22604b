package v1

// AuthInfo is who a user is, and how the user shows that.
type AuthInfo struct {
	// ClientCertificate and ClientKey are files. Data in PEM goes before a file.
	ClientCertificate     string `json:"client-certificate,omitempty"`
	ClientCertificateData []byte `json:"client-certificate-data,omitempty"`
	ClientKey             string `json:"client-key,omitempty"`
	ClientKeyData         []byte `json:"client-key-data,omitempty" datapolicy:"security-key"`
	// Token is a bearer token. TokenFile is a file with one, which is read again from time to time, and goes before Token.
	Token     string `json:"token,omitempty" datapolicy:"token"`
	TokenFile string `json:"tokenFile,omitempty"`
	// Impersonate, and the fields after it, are whom to act as.
	Impersonate          string              `json:"as,omitempty"`
	ImpersonateUID       string              `json:"as-uid,omitempty"`
	ImpersonateGroups    []string            `json:"as-groups,omitempty"`
	ImpersonateUserExtra map[string][]string `json:"as-user-extra,omitempty"`
	// Username and Password are for basic authentication.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty" datapolicy:"password"`
	// AuthProvider names a plugin that is linked into the program.
	AuthProvider *AuthProviderConfig `json:"auth-provider,omitempty"`
	// Exec is a command that prints credentials.
	Exec       *ExecConfig      `json:"exec,omitempty"`
	Extensions []NamedExtension `json:"extensions,omitempty"`
}

// AuthProviderConfig names a plugin that is linked into the program.
type AuthProviderConfig struct {
	Name   string            `json:"name"`
	Config map[string]string `json:"config"`
}

// ExecConfig is a command that prints credentials.
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
	// InteractiveMode is whether the command reads standard input. Version v1 of ExecCredential demands it; for older ones, the
	// default is IfAvailableExecInteractiveMode.
	InteractiveMode ExecInteractiveMode `json:"interactiveMode,omitempty"`
}

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
