package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// build builds the command as "make build" does.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kinform")
	out, err := exec.Command("go", "build", "-trimpath", "-o", path, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

func TestExitStatus(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can send signals to another on Windows")
	}
	t.Parallel()
	binary := build(t)

	t.Run("a demo that ends by itself is clean", func(t *testing.T) {
		t.Parallel()
		out, err := exec.Command(binary, "demo", "--for", "1s", "--output", "json").Output()
		require.NoError(t, err)
		require.Zero(t, summaryOf(t, out).Stale)
	})

	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run("after "+signal.String()+" a demo drains and is clean", func(t *testing.T) {
			t.Parallel()
			cmd, lines := begin(t, binary, "demo", "--output", "json", "--churn", "500", "--faults")
			var all bytes.Buffer
			for interrupted := false; lines.Scan(); {
				all.WriteString(lines.Text() + "\n")
				if !interrupted && strings.Contains(lines.Text(), `"event"`) {
					require.NoError(t, cmd.Process.Signal(signal))
					interrupted = true
				}
			}
			require.NoError(t, cmd.Wait())
			require.Contains(t, all.String(), `{"type":"draining"}`)
			summary := summaryOf(t, all.Bytes())
			require.Zero(t, summary.Stale)
			require.GreaterOrEqual(t, summary.Events, 1001)
		})
	}

	t.Run("a watch that cannot connect fails with one line", func(t *testing.T) {
		t.Parallel()
		left, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, left.Close())
		config := save(t, "http://"+left.Addr().String())

		began := time.Now()
		var out, errOut bytes.Buffer
		cmd := exec.Command(binary, "watch", "pods", "--connect-timeout", "1m", "--kubeconfig", config)
		cmd.Stdout, cmd.Stderr = &out, &errOut
		exit := &exec.ExitError{}
		require.ErrorAs(t, cmd.Run(), &exit)
		require.Equal(t, 1, exit.ExitCode())
		require.Less(t, time.Since(began), 40*time.Second)
		require.Empty(t, out.String())
		require.Equal(t, 1, strings.Count(errOut.String(), "\n"))
		require.Contains(t, errOut.String(), "kinform: the cluster at http://127.0.0.1:")
	})

	t.Run("a watch that is interrupted is clean, and so is the server", func(t *testing.T) {
		t.Parallel()
		server, config := serve(t, binary, "--pods", "3")
		watch, lines := begin(t, binary, "watch", "pods", "-A", "--kubeconfig", config)
		for range 1 + 3 {
			require.True(t, lines.Scan())
		}
		for _, cmd := range []*exec.Cmd{watch, server} {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			require.NoError(t, cmd.Wait())
		}
		require.NoFileExists(t, config)
	})

	t.Run("under the name of another program it is that program", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		out, err := exec.Command(binary, "envtest-assets", dir).Output()
		require.NoError(t, err)
		require.Contains(t, string(out), "Try: KUBEBUILDER_ASSETS="+dir+" go test ./...\n")
		etcd := exec.CommandContext(t.Context(), filepath.Join(dir, "etcd"), "--listen-client-urls=http://127.0.0.1:0", "--data-dir="+dir)
		errOut, err := etcd.StderrPipe()
		require.NoError(t, err)
		require.NoError(t, etcd.Start())
		lines := bufio.NewScanner(errOut)
		require.True(t, lines.Scan())
		require.Equal(t, "etcd: kinform ignores --data-dir", lines.Text())
		require.NoError(t, etcd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, etcd.Wait())

		said, err := exec.Command(filepath.Join(dir, "kube-apiserver"), "--no-such-flag").CombinedOutput()
		exit := &exec.ExitError{}
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 1, exit.ExitCode())
		require.Equal(t, "kube-apiserver: unknown flag: --no-such-flag: kube-apiserver --help lists the flags\n", string(said))
	})

	t.Run("the second signal ends what hangs", func(t *testing.T) {
		t.Parallel()
		server := apitest.Start(t, apitest.Options{})
		_, err := server.Create(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "long"},
			Data:       map[string]string{"text": strings.Repeat("long ", 200_000)},
		})
		require.NoError(t, err)
		watch := exec.CommandContext(t.Context(), binary, "watch", "configmaps", "-o", "json", "--kubeconfig", save(t, server.URL()))
		out, err := watch.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, watch.Start())
		// The test stops reading, so the command blocks in the middle of its first line.
		_, err = io.ReadFull(out, make([]byte, 1))
		require.NoError(t, err)

		ended := make(chan error)
		go func() { ended <- watch.Wait() }()
		for err = nil; err == nil; {
			_ = watch.Process.Signal(os.Interrupt) // The second signal ends the process.
			select {
			case err = <-ended:
				require.EqualError(t, err, "signal: interrupt")
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// save writes a kubeconfig and returns its path.
func save(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(path, kubeconfig.Connection{Config: rest.Config{Host: url}}))
	return path
}

// serve starts the API server and returns the path of its kubeconfig.
func serve(t *testing.T, binary string, flags ...string) (server *exec.Cmd, config string) {
	t.Helper()
	config = filepath.Join(t.TempDir(), "config")
	server, lines := begin(t, binary, append(flags, "apiserver", "--listen", "127.0.0.1:0", "--kubeconfig-out", config)...)
	require.True(t, lines.Scan())
	return server, config
}

// begin starts the binary and returns the lines that it prints.
func begin(t *testing.T, binary string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(out)
}

type summary struct {
	Type                                                  string
	Objects, Events, Enqueued, Reconciled, Relists, Stale int
}

// summaryOf returns the last line of a demo.
func summaryOf(t *testing.T, out []byte) (s summary) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], &s))
	require.Equal(t, "summary", s.Type)
	return s
}
