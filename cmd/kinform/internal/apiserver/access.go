package apiserver

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest"
)

// access is the content of a file for --rbac: the tokens with their users, and the rules for users.
type access struct {
	Tokens map[string]apitest.User `json:"tokens"`
	Rules  []apitest.Rule          `json:"rules"`
}

// readAccess reads a file for --rbac. Its errors quote nothing from the file, because the file
// contains tokens.
func readAccess(path string) (a access, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return a, fmt.Errorf("--rbac: %w", err)
	}
	if err := yaml.UnmarshalStrict(data, &a); err != nil {
		return a, fmt.Errorf("--rbac: %s must hold only tokens and rules in YAML, as kinform apiserver --help shows", path)
	}
	for token, user := range a.Tokens {
		if token == "" || user.Name == "" {
			return a, fmt.Errorf("--rbac: %s has a token without a user name", path)
		}
	}
	for i, rule := range a.Rules {
		if len(rule.Users)+len(rule.Groups) == 0 || len(rule.Verbs) == 0 {
			return a, fmt.Errorf("--rbac: %s: rule %d must have users or groups, and verbs", path, i+1)
		}
	}
	if a.Rules == nil {
		a.Rules = []apitest.Rule{}
	}
	return a, nil
}

// writeCA writes the certificate of the CA that signed the server's certificate. It returns a
// function that removes the file. The certificate is not secret.
func writeCA(path string, ca []byte) (remove func(), err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return nil, fmt.Errorf("--ca-out: %s exists: remove it, or name another file", path)
		}
		return nil, fmt.Errorf("--ca-out: %w", err)
	}
	_, err = f.Write(ca)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("--ca-out: %w", err)
	}
	return func() { _ = os.Remove(path) }, nil
}
