package clientcmd

import (
	"strings"

	"github.com/spf13/pflag"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Names of flags that kubectl and other commands share.
const (
	FlagClusterName        = "cluster"
	FlagAuthInfoName       = "user"
	FlagContext            = "context"
	FlagNamespace          = "namespace"
	FlagAPIServer          = "server"
	FlagTLSServerName      = "tls-server-name"
	FlagInsecure           = "insecure-skip-tls-verify"
	FlagCertFile           = "client-certificate"
	FlagKeyFile            = "client-key"
	FlagCAFile             = "certificate-authority"
	FlagEmbedCerts         = "embed-certs"
	FlagBearerToken        = "token"
	FlagImpersonate        = "as"
	FlagImpersonateUID     = "as-uid"
	FlagImpersonateGroup   = "as-group"
	FlagUsername           = "username"
	FlagPassword           = "password"
	FlagTimeout            = "request-timeout"
	FlagProxyURL           = "proxy-url"
	FlagDisableCompression = "disable-compression"
)

// secretAnnotation marks flags whose values are secrets.
const secretAnnotation = "classified"

// ConfigOverrideFlags are the flags of ConfigOverrides.
type ConfigOverrideFlags struct {
	AuthOverrideFlags    AuthOverrideFlags
	ClusterOverrideFlags ClusterOverrideFlags
	ContextOverrideFlags ContextOverrideFlags
	CurrentContext       FlagInfo
	Timeout              FlagInfo
}

// AuthOverrideFlags are the flags of a user.
type AuthOverrideFlags struct {
	ClientCertificate FlagInfo
	ClientKey         FlagInfo
	Token             FlagInfo
	Impersonate       FlagInfo
	ImpersonateUID    FlagInfo
	ImpersonateGroups FlagInfo
	Username          FlagInfo
	Password          FlagInfo
}

// ContextOverrideFlags are the flags of a context.
type ContextOverrideFlags struct {
	ClusterName  FlagInfo
	AuthInfoName FlagInfo
	Namespace    FlagInfo
}

// ClusterOverrideFlags are the flags of a cluster.
type ClusterOverrideFlags struct {
	APIServer             FlagInfo
	APIVersion            FlagInfo
	CertificateAuthority  FlagInfo
	InsecureSkipTLSVerify FlagInfo
	TLSServerName         FlagInfo
	ProxyURL              FlagInfo
	DisableCompression    FlagInfo
}

// FlagInfo is a flag that a program can rename or omit before it is bound.
type FlagInfo struct {
	// LongName is the flag's name. A flag without a LongName is omitted.
	LongName string
	// ShortName is one letter, or "".
	ShortName string
	// Default is the flag's default value. A boolean flag has "true" or "false".
	Default string
	// Description is the help text.
	Description string
}

// AddSecretAnnotation marks a flag whose value must not be logged.
func (f FlagInfo) AddSecretAnnotation(flags *pflag.FlagSet) FlagInfo {
	// fails for an omitted flag
	_ = flags.SetAnnotation(f.LongName, secretAnnotation, []string{"true"})
	return f
}

// BindStringFlag defines the flag, unless it has no name.
func (f FlagInfo) BindStringFlag(flags *pflag.FlagSet, target *string) FlagInfo {
	if f.LongName != "" {
		flags.StringVarP(target, f.LongName, f.ShortName, f.Default, f.Description)
	}
	return f
}

// BindTransformingStringFlag defines the flag, unless it has no name. transformer converts each
// value that is set.
func (f FlagInfo) BindTransformingStringFlag(flags *pflag.FlagSet, target *string, transformer func(string) (string, error)) FlagInfo {
	if f.LongName != "" {
		flags.VarP(&transformedValue{target: target, transform: transformer, value: f.Default}, f.LongName, f.ShortName, f.Description)
	}
	return f
}

// BindStringArrayFlag defines the flag, unless it has no name. The flag may be given several times.
func (f FlagInfo) BindStringArrayFlag(flags *pflag.FlagSet, target *[]string) FlagInfo {
	if f.LongName != "" {
		var preset []string
		if f.Default != "" {
			preset = strings.Split(f.Default, ",")
		}
		flags.StringArrayVarP(target, f.LongName, f.ShortName, preset, f.Description)
	}
	return f
}

// BindBoolFlag defines the flag, unless it has no name.
func (f FlagInfo) BindBoolFlag(flags *pflag.FlagSet, target *bool) FlagInfo {
	if f.LongName != "" {
		flags.BoolVarP(target, f.LongName, f.ShortName, f.Default == "true", f.Description)
	}
	return f
}

// transformedValue is a flag whose value is transformed before it is stored.
type transformedValue struct {
	target    *string
	transform func(string) (string, error)
	value     string // before the transformation
}

// String implements pflag.Value.
func (t *transformedValue) String() string { return t.value }

// Set implements pflag.Value.
func (t *transformedValue) Set(value string) (err error) {
	if *t.target, err = t.transform(value); err == nil {
		t.value = value
	}
	return err
}

// Type implements pflag.Value.
func (t *transformedValue) Type() string { return "string" }

// flagHelp has the name and the help text that fill sets for a flag.
type flagHelp struct {
	flag       *FlagInfo
	name, text string
}

// fill sets the names, with a prefix, and the help texts of flags.
func fill(prefix string, flags ...flagHelp) {
	for _, f := range flags {
		f.flag.LongName, f.flag.Description = prefix+f.name, f.text
	}
}

// RecommendedConfigOverrideFlags returns kubectl's flags, with a prefix.
func RecommendedConfigOverrideFlags(prefix string) (f ConfigOverrideFlags) {
	f.AuthOverrideFlags = RecommendedAuthOverrideFlags(prefix)
	f.ClusterOverrideFlags = RecommendedClusterOverrideFlags(prefix)
	f.ContextOverrideFlags = RecommendedContextOverrideFlags(prefix)
	f.Timeout.Default = "0"
	fill(prefix,
		flagHelp{&f.CurrentContext, FlagContext, "Context of the kubeconfig, in place of its current one"},
		flagHelp{&f.Timeout, FlagTimeout, "How long one request may take, with a unit: 1s, 2m, 3h. 0 sets no limit"})
	return f
}

// RecommendedAuthOverrideFlags returns kubectl's flags of a user, with a prefix.
func RecommendedAuthOverrideFlags(prefix string) (f AuthOverrideFlags) {
	fill(prefix,
		flagHelp{&f.ClientCertificate, FlagCertFile, "File of the certificate by which the API server knows the client"},
		flagHelp{&f.ClientKey, FlagKeyFile, "File of the key of the client's certificate"},
		flagHelp{&f.Token, FlagBearerToken, "Token that authenticates requests"},
		flagHelp{&f.Impersonate, FlagImpersonate, "User in whose name requests are made"},
		flagHelp{&f.ImpersonateUID, FlagImpersonateUID, "UID of the user in whose name requests are made"},
		flagHelp{&f.ImpersonateGroups, FlagImpersonateGroup, "Group in whose name requests are made; may be given several times"},
		flagHelp{&f.Username, FlagUsername, "Name for basic authentication"},
		flagHelp{&f.Password, FlagPassword, "Password for basic authentication"})
	return f
}

// RecommendedClusterOverrideFlags returns kubectl's flags of a cluster, with a prefix.
func RecommendedClusterOverrideFlags(prefix string) (f ClusterOverrideFlags) {
	f.InsecureSkipTLSVerify.Default = "false"
	fill(prefix,
		flagHelp{&f.APIServer, FlagAPIServer, "URL of the API server"},
		flagHelp{&f.CertificateAuthority, FlagCAFile, "File of the certificates that may have signed the API server's"},
		flagHelp{&f.InsecureSkipTLSVerify, FlagInsecure, "Do not verify the API server's certificate: anybody on the way can then read and change what is sent"},
		flagHelp{&f.TLSServerName, FlagTLSServerName, "Name that the API server's certificate must have, in place of its host"},
		flagHelp{&f.ProxyURL, FlagProxyURL, "URL of a proxy on the way to the API server"},
		flagHelp{&f.DisableCompression, FlagDisableCompression, "Have the API server send its answers uncompressed"})
	return f
}

// RecommendedContextOverrideFlags returns kubectl's flags of a context, with a prefix.
func RecommendedContextOverrideFlags(prefix string) (f ContextOverrideFlags) {
	f.Namespace.ShortName = "n"
	fill(prefix,
		flagHelp{&f.ClusterName, FlagClusterName, "Cluster of the kubeconfig, in place of the context's"},
		flagHelp{&f.AuthInfoName, FlagAuthInfoName, "User of the kubeconfig, in place of the context's"},
		flagHelp{&f.Namespace, FlagNamespace, "Namespace, in place of the context's"})
	return f
}

// text is a string flag and the variable that gets its value.
type text struct {
	flag   FlagInfo
	target *string
}

// BindOverrideFlags defines the flags of overrides.
func BindOverrideFlags(overrides *ConfigOverrides, flags *pflag.FlagSet, flagNames ConfigOverrideFlags) {
	flagNames.CurrentContext.BindStringFlag(flags, &overrides.CurrentContext)
	flagNames.Timeout.BindStringFlag(flags, &overrides.Timeout)
	BindContextFlags(&overrides.Context, flags, flagNames.ContextOverrideFlags)
	BindClusterFlags(&overrides.ClusterInfo, flags, flagNames.ClusterOverrideFlags)
	BindAuthInfoFlags(&overrides.AuthInfo, flags, flagNames.AuthOverrideFlags)
}

// BindAuthInfoFlags defines the flags of a user. Their values must not be logged.
func BindAuthInfoFlags(authInfo *clientcmdapi.AuthInfo, flags *pflag.FlagSet, flagNames AuthOverrideFlags) {
	for _, t := range []text{
		{flagNames.ClientCertificate, &authInfo.ClientCertificate}, {flagNames.ClientKey, &authInfo.ClientKey}, {flagNames.Token, &authInfo.Token},
		{flagNames.Username, &authInfo.Username}, {flagNames.Password, &authInfo.Password},
		{flagNames.Impersonate, &authInfo.Impersonate}, {flagNames.ImpersonateUID, &authInfo.ImpersonateUID},
	} {
		t.flag.BindStringFlag(flags, t.target).AddSecretAnnotation(flags)
	}
	flagNames.ImpersonateGroups.BindStringArrayFlag(flags, &authInfo.ImpersonateGroups).AddSecretAnnotation(flags)
}

// BindClusterFlags defines the flags of a cluster.
func BindClusterFlags(clusterInfo *clientcmdapi.Cluster, flags *pflag.FlagSet, flagNames ClusterOverrideFlags) {
	for _, t := range []text{
		{flagNames.APIServer, &clusterInfo.Server}, {flagNames.TLSServerName, &clusterInfo.TLSServerName},
		{flagNames.CertificateAuthority, &clusterInfo.CertificateAuthority}, {flagNames.ProxyURL, &clusterInfo.ProxyURL},
	} {
		t.flag.BindStringFlag(flags, t.target)
	}
	flagNames.DisableCompression.BindBoolFlag(flags, &clusterInfo.DisableCompression)
	flagNames.InsecureSkipTLSVerify.BindBoolFlag(flags, &clusterInfo.InsecureSkipTLSVerify)
}

// BindContextFlags defines the flags of a context.
func BindContextFlags(contextInfo *clientcmdapi.Context, flags *pflag.FlagSet, flagNames ContextOverrideFlags) {
	flagNames.Namespace.BindTransformingStringFlag(flags, &contextInfo.Namespace, RemoveNamespacesPrefix)
	flagNames.AuthInfoName.BindStringFlag(flags, &contextInfo.AuthInfo)
	flagNames.ClusterName.BindStringFlag(flags, &contextInfo.Cluster)
}
