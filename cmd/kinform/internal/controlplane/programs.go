package controlplane

import (
	"context"
	"errors"
	"io"
	"path/filepath"
)

// Program is what a process does under a name, until it is done or ctx ends.
type Program func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// programs are the names that envtest starts.
var programs = map[string]Program{"kube-apiserver": kubeAPIServer, "etcd": etcd, "kubectl": kubectl}

// Named returns the name that a process was started under, and the program of that name, or nil
// if there is none.
func Named(arg0 string) (name string, p Program) {
	name = filepath.Base(arg0)
	return name, programs[name]
}

// kubectl is there because envtest wants the path of one. Nothing is started by itself.
func kubectl(context.Context, []string, io.Writer, io.Writer) error {
	return errors.New("kinform has no kubectl: name a real one with TEST_ASSET_KUBECTL=/path/of/kubectl")
}
