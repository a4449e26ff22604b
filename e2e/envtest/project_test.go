package envtest_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The project in testdata/guestbook is as kubebuilder v4.16.0 has generated it, without the files
// that its tests do not need:
//
//	kubebuilder init --domain example.com --repo example.com/guestbook
//	kubebuilder create api --group web --version v1 --kind Guestbook --resource --controller
//	make manifests
const guestbook = "../testdata/guestbook"

// TestGeneratedProject does what "make test" of the project does: with client-go, and with module
// clientgo in its place; with a control plane that envtest starts, and with a server that runs.
func TestGeneratedProject(t *testing.T) {
	t.Run("client-go", func(t *testing.T) {
		p := newProject(t, "../go.mod")
		p.test(t, "KUBEBUILDER_ASSETS="+assets)
		p.test(t, "KUBEBUILDER_ASSETS=/nowhere", "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+apiserver(t))
	})
	t.Run("clientgo", func(t *testing.T) {
		p := newProject(t, "../dropin.mod")
		p.test(t, "KUBEBUILDER_ASSETS="+assets)
	})
}

// project is a copy of the generated project.
type project struct{ dir string }

// newProject copies the project. Its go.mod gets the requirements of another one of this module,
// so that little has to be compiled for it, and the same replacements.
func newProject(t *testing.T, other string) project {
	t.Helper()
	p := project{dir: t.TempDir()}
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(guestbook)))
	text, err := exec.Command("go", "mod", "edit", "-json", other).Output()
	require.NoError(t, err)
	type version struct{ Path, Version string }
	var module struct {
		Require []version
		Replace []struct{ Old, New version }
	}
	require.NoError(t, json.Unmarshal(text, &module))
	edits := []string{"mod", "edit"}
	for _, r := range module.Require {
		edits = append(edits, "-require="+r.Path+"@"+r.Version)
	}
	for _, r := range module.Replace {
		folder, err := filepath.Abs(filepath.Join(filepath.Dir(other), r.New.Path))
		require.NoError(t, err)
		edits = append(edits, "-replace="+r.Old.Path+"="+folder)
	}
	p.do(t, nil, "go", edits...)
	sums, err := os.ReadFile(strings.TrimSuffix(other, ".mod") + ".sum")
	require.NoError(t, err)
	own, err := os.ReadFile(filepath.Join(p.dir, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.sum"), append(own, sums...), 0o644))
	return p
}

// test runs the tests of the project, as its Makefile does.
func (p project) test(t *testing.T, env ...string) {
	t.Helper()
	out := p.do(t, env, "go", "test", "-count=1", "./...")
	t.Log(strings.Join(env, " "), out)
	require.Regexp(t, `(?m)^ok\s+example.com/guestbook/internal/controller\s`, out)
}

// do runs a command in the project's folder, and returns its output.
func (p project) do(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = p.dir, append(append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", cmd, out)
	return string(out)
}

// apiserver starts "kinform apiserver" until the test ends, and returns its kubeconfig.
func apiserver(t *testing.T) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "kubeconfig")
	cmd := exec.Command(binary, "apiserver", "--tls", "--check-schemas", "--listen", "127.0.0.1:0", "--kubeconfig-out", config)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, cmd.Wait())
	})
	require.True(t, bufio.NewScanner(out).Scan(), "it says that it serves, and has written the file")
	return config
}
