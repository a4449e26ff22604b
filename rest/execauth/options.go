package execauth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kinform/kinform/rest"
)

// These are the versions of the protocol.
const (
	V1      = "client.authentication.k8s.io/v1"
	V1beta1 = "client.authentication.k8s.io/v1beta1"
)

// InteractiveMode says whether a plugin may ask the user for input.
type InteractiveMode string

// These are the modes, by their names in a kubeconfig.
const (
	// Never means that the plugin has no standard input.
	Never InteractiveMode = "Never"
	// IfAvailable means that the plugin gets Options.Stdin if Options.Stdin is a terminal.
	IfAvailable InteractiveMode = "IfAvailable"
	// Always means that the plugin gets Options.Stdin, and does not start if Options.Stdin is not a
	// terminal.
	Always InteractiveMode = "Always"
)

// Options are the optional settings of a Plugin. The zero value is ready for use.
type Options struct {
	// APIVersion is the version of the plugin's protocol. Defaults to V1.
	APIVersion string

	// Args are the arguments of the command. They are Secrets, because one may be a password;
	// [rest.Secrets] makes them from strings. Defaults to no arguments.
	Args []rest.Secret

	// Env has variables as "NAME=value". The command gets them in addition to the environment of
	// this process. Defaults to no variables.
	Env []rest.Secret

	// Policy says which commands may run. Defaults to all commands.
	Policy Policy

	// InstallHint explains to people how to get the command. The error about a missing command
	// contains it. Defaults to "".
	InstallHint string

	// Cluster describes the server. The plugin gets it in its ExecCredential. Defaults to no
	// cluster.
	Cluster *Cluster

	// InteractiveMode says whether the plugin may ask the user for input. Defaults to
	// IfAvailable.
	InteractiveMode InteractiveMode

	// Stdin is the standard input of the plugin, depending on InteractiveMode. Defaults to
	// os.Stdin.
	Stdin *os.File

	// Stderr receives the standard error of the command while it runs, such as instructions to log
	// in. Defaults to this process's standard error if the plugin may ask the user for input, and
	// otherwise to no output. Errors of Stderr do not count as errors of the plugin.
	Stderr io.Writer

	// OnExit is called after each run with the error of the process: nil, an *exec.ExitError and so
	// on. If the process succeeds, but its output has no credential, this error is nil. OnExit is
	// also called, without a run, if the command is not allowed (ErrNotAllowed) or missing
	// (exec.ErrNotFound). Defaults to no call.
	OnExit func(err error)

	// Timeout is how long the command may run before it is killed. Defaults to 5 minutes, long
	// enough to log in with a browser.
	Timeout time.Duration
}

// Cluster describes the server that a credential is for. It has the fields of a cluster in a
// kubeconfig.
type Cluster struct {
	Server             string
	TLSServerName      string
	Insecure           bool
	CAData             []byte
	CAFile             string      // read for each run, instead of CAData
	ProxyURL           rest.Secret // it may have a password
	DisableCompression bool

	// Config is JSON for the plugin. In a kubeconfig, it is the cluster's extension named
	// "client.authentication.k8s.io/exec".
	Config rest.Secret
}

// withDefaults returns the options with defaults filled in, or an error that names the invalid
// option.
func (o Options) withDefaults() (Options, error) {
	if o.APIVersion == "" {
		o.APIVersion = V1
	}
	if o.InteractiveMode == "" {
		o.InteractiveMode = IfAvailable
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.OnExit == nil {
		o.OnExit = func(error) {}
	}
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Minute
	}
	switch {
	case o.APIVersion != V1 && o.APIVersion != V1beta1:
		return o, fmt.Errorf("execauth: apiVersion %q is unknown: use %s, or %s", o.APIVersion, V1, V1beta1)
	case o.InteractiveMode != Never && o.InteractiveMode != IfAvailable && o.InteractiveMode != Always:
		return o, fmt.Errorf("execauth: interactiveMode %q is unknown: use %s, %s or %s", o.InteractiveMode, Never, IfAvailable, Always)
	case o.Timeout < 0:
		return o, errors.New("execauth: Timeout must not be negative")
	}
	return o, o.Policy.validate()
}
