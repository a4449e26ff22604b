package execauth

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// PolicyType says which plugins may run.
type PolicyType string

// These types have the same names as in kubectl's preferences (the field credentialPluginPolicy of
// a kuberc file).
const (
	AllowAll  PolicyType = "AllowAll"
	DenyAll   PolicyType = "DenyAll"
	Allowlist PolicyType = "Allowlist"
)

// Policy says which commands may run. A kubeconfig may come from a person who should not choose
// commands for this machine. A Plugin checks its policy before each run. The zero value allows all
// commands.
type Policy struct {
	// Type defaults to AllowAll.
	Type PolicyType

	// Allowed has the allowed commands. It must have at least one if Type is Allowlist, and must be
	// empty otherwise. Each is a path, or a name that is looked up in PATH. A command is allowed if
	// its path equals the path of an allowed command. The comparison does not follow symbolic
	// links, and there are no patterns.
	Allowed []string
}

// ErrNotAllowed means that the policy does not allow a command. The errors of [Plugin.Credential]
// wrap it.
var ErrNotAllowed = errors.New("the policy for plugins does not allow the command")

// validate returns an error if the policy is invalid.
func (p Policy) validate() error {
	switch p.Type {
	case "", AllowAll, DenyAll:
		if len(p.Allowed) > 0 {
			return fmt.Errorf("execauth: Policy.Allowed must be empty unless the Type is %s", Allowlist)
		}
	case Allowlist:
		if len(p.Allowed) == 0 {
			return fmt.Errorf("execauth: Policy of Type %s needs commands in Allowed: add some, or use %s", Allowlist, DenyAll)
		}
		for _, name := range p.Allowed {
			if name == "" {
				return errors.New("execauth: Policy allows a command without a name: remove it")
			}
		}
	default:
		return fmt.Errorf("execauth: Policy.Type %q is unknown: use %s, %s or %s", p.Type, AllowAll, DenyAll, Allowlist)
	}
	return nil
}

// allow returns the path of the command, or an error if the command must not run.
func (p Policy) allow(command string) (path string, err error) {
	if p.Type == DenyAll {
		return "", fmt.Errorf("%w: the policy is %s", ErrNotAllowed, DenyAll)
	}
	if path, err = resolve(command); err != nil || p.Type != Allowlist {
		return path, err
	}
	for _, name := range p.Allowed {
		if allowed, err := resolve(name); err == nil && allowed == path {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s is not in Policy.Allowed", ErrNotAllowed, path)
}

// resolve returns the absolute path of a command.
func resolve(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
