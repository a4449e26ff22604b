package controlplane

import (
	"context"
	"errors"
	"io"
	"path/filepath"
)

// Program is the main function of a program that this command replaces. It runs until it is done or
// ctx ends.
type Program func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// programs are the programs that envtest starts, by name.
var programs = map[string]Program{"kube-apiserver": kubeAPIServer, "etcd": etcd, "kubectl": kubectl}

// Named returns the name under which a process was started. It also returns the program of that
// name, or nil if no program has it.
func Named(arg0 string) (name string, p Program) {
	name = filepath.Base(arg0)
	return name, programs[name]
}

// kubectl exists because envtest needs its path. Envtest does not start it by itself.
func kubectl(context.Context, []string, io.Writer, io.Writer) error {
	return errors.New("kinform has no kubectl: name a real one with TEST_ASSET_KUBECTL=/path/of/kubectl")
}
