package execauth

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/kinform/kinform/rest"
)

// The versions of the protocol.
const (
	V1      = "client.authentication.k8s.io/v1"
	V1beta1 = "client.authentication.k8s.io/v1beta1"
)

// InteractiveMode says whether a plugin may ask the user something.
type InteractiveMode string

// The modes, by the names that they have in a kubeconfig.
const (
	// Never gives the plugin no standard input.
	Never InteractiveMode = "Never"
	// IfAvailable gives it ours if that is a terminal.
	IfAvailable InteractiveMode = "IfAvailable"
	// Always gives it ours, and does not start it unless that is a terminal.
	Always InteractiveMode = "Always"
)

// Options are the choices of a Plugin. The zero value works.
type Options struct {
	// APIVersion is the version of the protocol that the plugin speaks. Defaults
	// to V1.
	APIVersion string

	// Args are the arguments of the command, of which one may be a password:
	// [rest.Secrets] makes them of strings. Default to none.
	Args []rest.Secret

	// Env is added to the environment of this process, each as "NAME=value". Defaults
	// to nothing.
	Env []rest.Secret

	// Policy says which commands may be run. Defaults to all.
	Policy Policy

	// InstallHint tells people how to get the command. It is part of the error when
	// it is missing. Defaults to nothing.
	InstallHint string

	// Cluster is told to the plugin. Defaults to nothing.
	Cluster *Cluster

	// InteractiveMode says whether the plugin may ask the user something. A plugin
	// that may has its standard error shown as well. Defaults to IfAvailable.
	InteractiveMode InteractiveMode

	// Stdin is the standard input of plugins that have one. Defaults to os.Stdin.
	Stdin *os.File

	// Timeout ends a plugin that takes longer. Defaults to 5 minutes, in which one
	// can log in with a browser.
	Timeout time.Duration
}

// Cluster describes the server that a credential is for. Its fields are those of
// a kubeconfig's cluster.
type Cluster struct {
	Server             string
	TLSServerName      string
	Insecure           bool
	CAData             []byte
	CAFile             string      // read for each run, in place of CAData
	ProxyURL           rest.Secret // it may have a password
	DisableCompression bool

	// Config is for the plugin alone: what a kubeconfig has in the cluster's
	// extension named "client.authentication.k8s.io/exec", which is JSON.
	Config rest.Secret
}

// withDefaults returns complete options, or says what is wrong with them.
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
