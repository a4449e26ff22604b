package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
)

// ErrNoConfig means that nothing is configured: no file has a current context, and the process does
// not run in a pod. The error of [Load] wraps it.
var ErrNoConfig = errors.New("no API server is configured")

// Options say which kubeconfig, and which of its contexts, to use. The zero value selects what
// kubectl without flags would select.
type Options struct {
	// Path is the only file to read, and must exist. Defaults to the files of the environment
	// variable KUBECONFIG, or otherwise to .kube/config in the home directory.
	Path string

	// Context is the name of the context to use. Defaults to current-context of the
	// files.
	Context string

	// Plugins says which exec plugins may run. Defaults to all plugins.
	Plugins execauth.Policy
}

// Connection has the address of a server, credentials for the server, and a namespace. Config
// contains secrets, but its printed forms do not.
type Connection struct {
	// Config is for [rest.NewClient]. The caller owns it.
	Config rest.Config

	// Namespace is the namespace of the context, or "default" if the context has no namespace. In a
	// pod, it is the pod's namespace.
	Namespace string

	// Context is the name of the context, or "" in a pod.
	Context string
}

// Load returns the connection that kubectl would use; the package comment has the rules. It
// reads files and environment variables. It opens no connection, and starts no command.
//
// The error names the file and the entry, says what to do, and quotes no secret. It wraps
// [ErrNoConfig] if nothing is configured.
func Load(opts Options) (Connection, error) {
	files, optional := candidates(opts.Path)
	m, err := readAll(files, optional)
	if err != nil {
		return Connection{}, err
	}
	if context := cmp.Or(opts.Context, m.currentContext); context != "" {
		return m.connection(context, files, opts.Plugins)
	}
	missing := m.nothingSelected(files)
	if opts.Path != "" {
		return Connection{}, fmt.Errorf("%w: %s", ErrNoConfig, missing)
	}
	conn, err := inCluster()
	if err != nil {
		return Connection{}, fmt.Errorf("%w: %s; the configuration of a pod was not found either: %w", ErrNoConfig, missing, err)
	}
	return conn, nil
}
