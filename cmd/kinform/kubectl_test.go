package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// kubectl runs kubectl against the embedded API server.
type kubectl struct {
	t    *testing.T
	path string
	env  []string
}

func newKubectl(t *testing.T, config string) kubectl {
	t.Helper()
	path, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not on the PATH")
	}
	// The home directory is separate, because kubectl stores the results of discovery there.
	return kubectl{t, path, append(os.Environ(), "KUBECONFIG="+config, "HOME="+t.TempDir())}
}

func (k kubectl) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(k.t.Context(), k.path, args...)
	cmd.Env = k.env
	return cmd
}

// run returns the output of kubectl.
func (k kubectl) run(stdin string, args ...string) string {
	k.t.Helper()
	cmd := k.command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	require.NoError(k.t, cmd.Run(), "kubectl %v: %s", args, errOut.String())
	return out.String()
}

// serveHere runs "kinform apiserver" in this process until the test ends. It returns the path of
// the kubeconfig.
func serveHere(t *testing.T, flags ...string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config")
	lines, _ := inBackground(t, append(flags, "apiserver", "--listen", "127.0.0.1:0", "--kubeconfig-out", config)...)
	require.Contains(t, lines(), "Serving")
	return config
}

// inBackground runs a command line in this process. The function line returns the next line of the
// output. The function end stops the command and waits until it has ended.
func inBackground(t *testing.T, args ...string) (line func() string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		root := newRoot()
		root.SetArgs(args)
		root.SetOut(out)
		root.SetErr(io.Discard)
		_ = out.CloseWithError(root.ExecuteContext(ctx))
	}()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	line = func() string {
		t.Helper()
		require.True(t, lines.Scan(), "%v: %v", args, lines.Err())
		return lines.Text()
	}
	end = func() {
		cancel()
		_, _ = io.Copy(io.Discard, in)
		<-ended
	}
	t.Cleanup(end)
	return line, end
}

type object = map[string]any

func nameOf(o object) string {
	metadata := o["metadata"].(object)
	return metadata["namespace"].(string) + "/" + metadata["name"].(string)
}

func TestWatchShowsTheObjectsThatKubectlShows(t *testing.T) {
	t.Parallel()
	config := serveHere(t, "--pods", "25")
	k := newKubectl(t, config)

	var list struct{ Items []object }
	require.NoError(t, json.Unmarshal([]byte(k.run("", "get", "pods", "-A", "-o", "json", "--show-managed-fields")), &list))
	require.Len(t, list.Items, 25)
	want := map[string]object{}
	for _, item := range list.Items {
		want[nameOf(item)] = item
	}

	line, _ := inBackground(t, "watch", "pods", "-A", "-o", "json", "--kubeconfig", config)
	got := map[string]object{}
	for range list.Items {
		var event struct{ Object object }
		require.NoError(t, json.Unmarshal([]byte(line()), &event))
		got[nameOf(event.Object)] = event.Object
	}
	require.Equal(t, want, got)
}

func TestKubectlAndWatchSeeTheSameChanges(t *testing.T) {
	t.Parallel()
	config := serveHere(t)
	k := newKubectl(t, config)
	namespaces := k.run("", "get", "namespaces")
	require.Contains(t, namespaces, "kube-node-lease")
	require.NotContains(t, namespaces, "ns-0", "the server must begin without namespaces for pods")
	k.run(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"first"},"spec":{"containers":[{"name":"c","image":"i"}]}}`, "create", "-f", "-")

	theirs := k.command("get", "pods", "-A", "-w", "--output-watch-events", "--no-headers")
	out, err := theirs.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, theirs.Start())
	kubectlSees := bufio.NewScanner(out)
	line, _ := inBackground(t, "watch", "pods", "-A", "--kubeconfig", config)
	line() // the header
	next := func() (kinform, kubectl []string) {
		require.True(t, kubectlSees.Scan())
		return strings.Fields(line())[:3], strings.Fields(kubectlSees.Text())[:3]
	}
	expect := func(kind, name string) {
		t.Helper()
		kinform, kubectl := next()
		require.Equal(t, []string{kind, "default", name}, kinform)
		require.Equal(t, []string{map[string]string{"Added": "ADDED", "Updated": "MODIFIED", "Deleted": "DELETED"}[kind], "default", name}, kubectl)
	}

	expect("Added", "first")
	require.Equal(t, "pod/second created\n",
		k.run("apiVersion: v1\nkind: Pod\nmetadata:\n  name: second\nspec:\n  containers:\n  - name: c\n    image: i\n", "create", "-f", "-"))
	expect("Added", "second")
	require.Equal(t, "pod/second labeled\n", k.run("", "label", "pod", "second", "app=web"))
	expect("Updated", "second")
	require.Equal(t, "pod/second\n", k.run("", "get", "pods", "-l", "app=web", "-o", "name"))
	require.Contains(t, k.run("", "delete", "pod", "second"), `pod "second" deleted`)
	expect("Deleted", "second")
	require.Contains(t, k.run("", "get", "pods", "-A"), "first")

	require.NoError(t, theirs.Process.Signal(os.Interrupt))
	_ = theirs.Wait() // Wait returns an error, because the program was interrupted.
}
