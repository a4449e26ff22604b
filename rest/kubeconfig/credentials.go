package kubeconfig

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
)

// execExtension is the name of the cluster extension whose content an exec plugin gets.
const execExtension = "client.authentication.k8s.io/exec"

// setPlugin makes an exec plugin the source of credentials. If the user also has static
// credentials, the client uses these instead, like kubectl, and the plugin never starts.
func setPlugin(cfg *rest.Config, e entry[user], c entry[cluster], policy execauth.Policy) error {
	x := e.content.Exec
	if x == nil || !cfg.BearerToken.IsZero() || cfg.BearerTokenFile != "" || cfg.Username != "" || cfg.TLS.KeyPair != nil {
		return nil
	}
	switch {
	case x.Command == "":
		return e.errorf("the exec plugin has no command: add a command")
	case x.APIVersion == "":
		return e.errorf("the exec plugin (%q) has no apiVersion: add %s or %s, whichever the plugin supports", x.Command, execauth.V1, execauth.V1beta1)
	case x.InteractiveMode == "" && x.APIVersion == execauth.V1:
		return e.errorf("the exec plugin (%q) has no interactiveMode, which %s requires: add %s, %s or %s",
			x.Command, execauth.V1, execauth.Never, execauth.IfAvailable, execauth.Always)
	}
	opts := execauth.Options{
		APIVersion: x.APIVersion, Args: rest.Secrets(x.Args...), InstallHint: x.InstallHint, Policy: policy, InteractiveMode: execauth.InteractiveMode(x.InteractiveMode),
	}
	for _, variable := range x.Env {
		if variable.Name == "" {
			return e.errorf("the exec plugin (%q) has a variable without a name in env: add the name", x.Command)
		}
		opts.Env = append(opts.Env, rest.NewSecret(variable.Name+"="+variable.Value))
	}
	if x.ProvideClusterInfo {
		opts.Cluster = &execauth.Cluster{
			Server: cfg.Host, TLSServerName: cfg.TLS.ServerName, Insecure: cfg.TLS.Insecure,
			CAData: cfg.TLS.CAData, CAFile: cfg.TLS.CAFile, ProxyURL: rest.NewSecret(c.content.ProxyURL),
			DisableCompression: c.content.DisableCompression, Config: rest.NewSecret(c.content.extension(execExtension)),
		}
	}
	command := x.Command
	if strings.ContainsRune(command, filepath.Separator) {
		command = e.path(command)
	}
	plugin, err := execauth.New(command, opts)
	if err != nil {
		return e.errorf("the exec plugin (%q): %w", x.Command, err)
	}
	cfg.Credentials = plugin.Credential
	return nil
}

// extension returns the cluster's extension with this name, or nil.
func (c *cluster) extension(name string) json.RawMessage {
	for _, x := range c.Extensions {
		if x.Name == name {
			return x.Extension
		}
	}
	return nil
}
