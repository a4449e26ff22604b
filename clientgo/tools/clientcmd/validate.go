package clientcmd

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Validate returns an error with every mistake in a config, such as missing files and dangling
// names.
func Validate(config clientcmdapi.Config) error {
	if clientcmdapi.IsConfigEmpty(&config) {
		return newInvalidError([]error{ErrEmptyConfig})
	}
	var wrong []error
	if name := config.CurrentContext; name != "" && config.Contexts[name] == nil {
		wrong = append(wrong, &contextNotFoundError{name})
	}
	for name, context := range config.Contexts {
		wrong = append(wrong, checkContext(name, context, config)...)
	}
	for name, user := range config.AuthInfos {
		wrong = append(wrong, checkUser(name, user)...)
	}
	for name, cluster := range config.Clusters {
		wrong = append(wrong, checkCluster(name, cluster)...)
	}
	return newInvalidError(wrong)
}

// ConfirmUsable returns an error with every mistake in a context, its cluster and its user. An
// empty name means the current context.
func ConfirmUsable(config clientcmdapi.Config, passedContextName string) error {
	if clientcmdapi.IsConfigEmpty(&config) {
		return newInvalidError([]error{ErrEmptyConfig})
	}
	name := passedContextName
	if name == "" {
		name = config.CurrentContext
	}
	if name == "" {
		return ErrNoContext
	}
	context, ok := config.Contexts[name]
	if !ok {
		return newInvalidError([]error{&contextNotFoundError{name}})
	}
	wrong := checkContext(name, context, config)
	if user, ok := config.AuthInfos[context.AuthInfo]; ok {
		wrong = append(wrong, checkUser(context.AuthInfo, user)...)
	}
	if cluster, ok := config.Clusters[context.Cluster]; ok {
		wrong = append(wrong, checkCluster(context.Cluster, cluster)...)
	} else {
		wrong = append(wrong, noServer(context.Cluster))
	}
	return newInvalidError(wrong)
}

func checkContext(name string, context *clientcmdapi.Context, config clientcmdapi.Config) (wrong []error) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if name == "" {
		complain("empty context name for %#v is not allowed", *context)
	}
	if context.AuthInfo == "" {
		complain("user was not specified for context %q", name)
	} else if _, ok := config.AuthInfos[context.AuthInfo]; !ok {
		complain("user %q was not found for context %q", context.AuthInfo, name)
	}
	if context.Cluster == "" {
		complain("cluster was not specified for context %q", name)
	} else if _, ok := config.Clusters[context.Cluster]; !ok {
		complain("cluster %q was not found for context %q", context.Cluster, name)
	}
	if context.Namespace != "" && len(validation.IsDNS1123Label(context.Namespace)) > 0 {
		complain("namespace %q for context %q does not conform to the kubernetes DNS_LABEL rules", context.Namespace, name)
	}
	return wrong
}

func checkCluster(name string, cluster *clientcmdapi.Cluster) (wrong []error) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if reflect.DeepEqual(cluster, clientcmdapi.NewCluster()) {
		return []error{ErrEmptyCluster}
	}
	if cluster.Server == "" {
		wrong = append(wrong, noServer(name))
	}
	if cluster.ProxyURL != "" {
		if _, err := parseProxyURL(cluster.ProxyURL); err != nil {
			complain("invalid 'proxy-url' %q for cluster %q: %w", withoutPassword(cluster.ProxyURL), name, err)
		}
	}
	if cluster.CertificateAuthority != "" && len(cluster.CertificateAuthorityData) > 0 {
		complain("certificate-authority-data and certificate-authority are both specified for %v. certificate-authority-data will override.", name)
	}
	if cluster.CertificateAuthority != "" {
		if err := checkReadable(cluster.CertificateAuthority); err != nil {
			complain("unable to read certificate-authority %v for %v due to %w", cluster.CertificateAuthority, name, err)
		}
	}
	return wrong
}

func noServer(cluster string) error {
	if cluster == "" {
		return errors.New("default cluster has no server defined")
	}
	return fmt.Errorf("no server found for cluster %q", cluster)
}

func checkUser(name string, user *clientcmdapi.AuthInfo) (wrong []error) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	var methods []string
	if user.Token != "" {
		methods = append(methods, "token")
	}
	if user.Username != "" || user.Password != "" {
		methods = append(methods, "basicAuth")
	}
	if user.ClientCertificate != "" || len(user.ClientCertificateData) > 0 {
		wrong = append(wrong, checkClientCertificate(name, user)...)
	}
	if user.Exec != nil {
		if user.AuthProvider != nil {
			complain("authProvider cannot be provided in combination with an exec plugin for %s", name)
		}
		wrong = append(wrong, checkExec(name, user.Exec)...)
	}
	// A client certificate is not counted: it may be combined with another method.
	if len(methods) > 1 {
		complain("more than one authentication method found for %v; found %v, only one is allowed", name, methods)
	}
	if user.Impersonate == "" && (user.ImpersonateUID != "" || len(user.ImpersonateGroups) > 0 || len(user.ImpersonateUserExtra) > 0) {
		complain("requesting uid, groups or user-extra for %v without impersonating a user", name)
	}
	return wrong
}

func checkClientCertificate(name string, user *clientcmdapi.AuthInfo) (wrong []error) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if user.ClientCertificate != "" && len(user.ClientCertificateData) > 0 {
		complain("client-cert-data and client-cert are both specified for %v. client-cert-data will override.", name)
	}
	if user.ClientKey != "" && len(user.ClientKeyData) > 0 {
		complain("client-key-data and client-key are both specified for %v; client-key-data will override", name)
	}
	if user.ClientKey == "" && len(user.ClientKeyData) == 0 {
		complain("client-key-data or client-key must be specified for %v to use the clientCert authentication method.", name)
	}
	for _, file := range []struct{ kind, path string }{{"client-cert", user.ClientCertificate}, {"client-key", user.ClientKey}} {
		if file.path == "" {
			continue
		}
		if err := checkReadable(file.path); err != nil {
			complain("unable to read %s %v for %v due to %w", file.kind, file.path, name, err)
		}
	}
	return wrong
}

func checkExec(name string, exec *clientcmdapi.ExecConfig) (wrong []error) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if exec.Command == "" {
		complain("command must be specified for %v to use exec authentication plugin", name)
	}
	if exec.APIVersion == "" {
		complain("apiVersion must be specified for %v to use exec authentication plugin", name)
	}
	for _, variable := range exec.Env {
		if variable.Name == "" {
			complain("env variable name must be specified for %v to use exec authentication plugin", name)
		}
	}
	switch exec.InteractiveMode {
	case "":
		complain("interactiveMode must be specified for %v to use exec authentication plugin", name)
	case clientcmdapi.NeverExecInteractiveMode, clientcmdapi.IfAvailableExecInteractiveMode, clientcmdapi.AlwaysExecInteractiveMode:
	default:
		complain("invalid interactiveMode for %v: %q", name, exec.InteractiveMode)
	}
	return wrong
}

func checkReadable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// withoutPassword removes everything before the last @ of an address. It does not parse the
// address, which may be malformed.
func withoutPassword(address string) string {
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		return "..." + address[at:]
	}
	return address
}

// parseProxyURL parses the address of a proxy. The scheme must be http, https or socks5.
func parseProxyURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("could not parse: %v", strings.ReplaceAll(err.Error(), address, "..."))
	}
	switch u.Scheme {
	case "http", "https", "socks5":
		return u, nil
	default:
		return nil, fmt.Errorf("unsupported scheme %q, must be http, https, or socks5", u.Scheme)
	}
}
