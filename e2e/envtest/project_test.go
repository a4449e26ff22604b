package envtest_test

import (
	"bufio"
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
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	for _, side := range []struct {
		name  string
		edits []string
	}{
		{"client-go", nil},
		{"clientgo", []string{
			"-require=github.com/kinform/kinform@v0.0.0",
			"-replace=github.com/kinform/kinform=" + root, "-replace=k8s.io/client-go=" + filepath.Join(root, "clientgo"),
		}},
	} {
		t.Run(side.name, func(t *testing.T) {
			p := newProject(t, side.edits)
			p.test(t, "KUBEBUILDER_ASSETS="+assets)
			if side.name == "client-go" {
				p.test(t, "KUBEBUILDER_ASSETS=/nowhere", "USE_EXISTING_CLUSTER=true", "KUBECONFIG="+apiserver(t))
			}
		})
	}
}

// project is a copy of the generated project.
type project struct{ dir string }

// newProject copies the project. The edits are of its go.mod, which first gets the versions of
// this module, so that both have compiled packages in common.
func newProject(t *testing.T, edits []string) project {
	t.Helper()
	p := project{dir: t.TempDir()}
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(guestbook)))
	versions, err := exec.Command("go", "list", "-m", "-f", "-require={{.Path}}@{{.Version}}",
		"k8s.io/client-go", "k8s.io/apimachinery", "sigs.k8s.io/controller-runtime").Output()
	require.NoError(t, err)
	p.do(t, nil, "go", append([]string{"mod", "edit"}, append(strings.Fields(string(versions)), edits...)...)...)
	sums, err := os.OpenFile(filepath.Join(p.dir, "go.sum"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, name := range []string{"../go.sum", "../dropin.sum"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, err = sums.Write(text)
		require.NoError(t, err)
	}
	require.NoError(t, sums.Close())
	return p
}

// test runs the tests of the project, as its Makefile does.
func (p project) test(t *testing.T, env ...string) {
	t.Helper()
	out := p.do(t, env, "go", "test", "-count=1", "./...")
	require.Regexp(t, `(?m)^ok\s+example.com/guestbook/internal/controller\s`, out)
}

// do runs a command in the project's folder, and returns its output.
func (p project) do(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = p.dir, append(append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", cmd, out)
	t.Logf("%s %v\n%s", strings.Join(env, " "), cmd.Args, out)
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
