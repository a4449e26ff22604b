// Package examples_test builds the examples, runs them on a server in the same process, and
// compares the README with them.
package examples_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// The pages contain the exact source code of these programs.
func TestPagesShowTheExactPrograms(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{"minimal/main.go": "../README.md", "mirror/main.go": "../docs/controllers.md"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		_, program, found := strings.Cut(string(source), "\npackage main\n")
		require.True(t, found)
		require.Contains(t, string(text), "```go\npackage main\n"+program+"```", "copy %s into %s, without the comment at its beginning", name, page)
	}
}

// The program prints a clear message to a user without a cluster, or without the permission to list
// pods.
func TestMinimalControllerReportsWhyItCannotListPods(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary := filepath.Join(dir, "minimal")
	built, err := exec.Command("go", "build", "-o", binary, "./minimal").CombinedOutput()
	require.NoError(t, err, string(built))

	forbidden := apitest.Start(t, apitest.Options{})
	forbidden.Inject(apitest.Fault{Verb: "list", Action: apitest.Fail(apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no role")))})
	gone := apitest.New(apitest.Options{})
	require.NoError(t, gone.Listen("127.0.0.1:0"))
	gone.Close()
	for url, want := range map[string]string{forbidden.URL(): "pods is forbidden: no role", gone.URL(): "connection refused"} {
		config := filepath.Join(dir, "kubeconfig")
		require.NoError(t, kubeconfig.Write(config, kubeconfig.Connection{Config: rest.Config{Host: url}}))
		output := &lines{seen: make(chan string, 16)}
		controller := exec.CommandContext(t.Context(), binary)
		controller.Env = append(os.Environ(), "KUBECONFIG="+config)
		controller.Stderr = output
		require.NoError(t, controller.Start())
		select {
		case first := <-output.seen:
			require.Contains(t, first, "WARN Attempt failed informer=pods phase=listing")
			require.Contains(t, first, want)
		case <-time.After(time.Minute):
			require.Fail(t, "the controller prints nothing")
		}
		require.NoError(t, controller.Process.Signal(syscall.SIGTERM))
		require.NoError(t, controller.Wait())
	}
}

func TestMinimalControllerPrintsPodsAndEndsCleanly(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	_, err := server.Create(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	})
	require.NoError(t, err)
	dir := t.TempDir()
	config := filepath.Join(dir, "kubeconfig")
	require.NoError(t, kubeconfig.Write(config, kubeconfig.Connection{Config: rest.Config{Host: server.URL()}}))
	binary := filepath.Join(dir, "minimal")
	built, err := exec.Command("go", "build", "-o", binary, "./minimal").CombinedOutput()
	require.NoError(t, err, string(built))

	output := &lines{seen: make(chan string, 16)}
	controller := exec.CommandContext(t.Context(), binary) // killed if the test fails
	controller.Env = append(os.Environ(), "KUBECONFIG="+config)
	controller.Stdout = output
	controller.Stderr = os.Stderr
	require.NoError(t, controller.Start())
	select {
	case first := <-output.seen:
		require.Equal(t, "shop/web Running\n", first)
	case <-time.After(time.Minute):
		require.Fail(t, "the controller prints nothing")
	}
	require.NoError(t, controller.Process.Signal(syscall.SIGTERM))
	require.NoError(t, controller.Wait(), "workers and informer must end without an error")
	require.Equal(t, "shop/web Running\n", output.all.String())
}

func TestExampleControllerIsShort(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("controller/main.go")
	require.NoError(t, err)
	require.Less(t, bytes.Count(source, []byte("\n")), 200, "examples/controller/main.go must be short, including imports and comments")
}

// lines is an output that reports each write. One goroutine writes to it, and ends before the test
// reads the buffer.
type lines struct {
	all  bytes.Buffer
	seen chan string
}

func (l *lines) Write(p []byte) (int, error) {
	select {
	case l.seen <- string(p):
	default:
	}
	return l.all.Write(p)
}
