package execauth

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
)

// TestPolicyAllowsCommands: a command runs only if the policy allows it.
func TestPolicyAllowsCommands(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	marker := filepath.Join(dir, "marker")
	script := "#!/bin/sh\ntouch " + marker + "\necho '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + V1 + "\",\"status\":{\"token\":\"a\"}}'\n"
	login := filepath.Join(dir, "kinform-test-login")
	for _, path := range []string{login, filepath.Join(dir, "kinform-test-other"), filepath.Join(other, "kinform-test-login")} {
		require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	}
	require.NoError(t, os.Symlink(login, filepath.Join(dir, "kinform-test-link")))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(dir)
	for _, test := range []struct {
		command string
		policy  Policy
		allowed bool
	}{
		{"kinform-test-login", Policy{}, true},
		{"kinform-test-login", Policy{Type: AllowAll}, true},
		{"kinform-test-login", Policy{Type: DenyAll}, false},
		{"/does/not/exist", Policy{Type: DenyAll}, false},
		{"kinform-test-login", Policy{Type: Allowlist, Allowed: []string{"a", "kinform-test-login"}}, true},
		{"kinform-test-login", Policy{Type: Allowlist, Allowed: []string{login}}, true},
		{login, Policy{Type: Allowlist, Allowed: []string{"kinform-test-login"}}, true},
		{"./kinform-test-login", Policy{Type: Allowlist, Allowed: []string{login}}, true},
		{filepath.Join(dir, ".", "x", "..", "kinform-test-login"), Policy{Type: Allowlist, Allowed: []string{login}}, true},
		{"kinform-test-other", Policy{Type: Allowlist, Allowed: []string{"kinform-test-login"}}, false},
		{filepath.Join(other, "kinform-test-login"), Policy{Type: Allowlist, Allowed: []string{"kinform-test-login"}}, false},
		{"kinform-test-login", Policy{Type: Allowlist, Allowed: []string{filepath.Join(other, "kinform-test-login")}}, false},
		{"kinform-test-login", Policy{Type: Allowlist, Allowed: []string{"kinform-test-*", dir, "/does/not/exist", "kinform-test-login "}}, false},
		{"kinform-test-link", Policy{Type: Allowlist, Allowed: []string{login}}, false},
	} {
		_ = os.Remove(marker)
		p, err := New(test.command, Options{Policy: test.policy, Args: rest.Secrets("a")})
		require.NoError(t, err)
		_, err = p.Credential(t.Context(), nil)
		if test.allowed {
			require.NoError(t, err, test)
			require.FileExists(t, marker)
			continue
		}
		require.ErrorIs(t, err, ErrNotAllowed, test)
		require.NoFileExists(t, marker, test)
	}

	for _, wrong := range []Policy{
		{Type: "allowall"}, {Allowed: []string{"a"}}, {Type: DenyAll, Allowed: []string{"a"}}, {Type: Allowlist}, {Type: Allowlist, Allowed: []string{""}},
	} {
		_, err := New("a", Options{Policy: wrong})
		require.ErrorContains(t, err, "execauth: Policy")
	}
}
