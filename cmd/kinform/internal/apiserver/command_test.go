package apiserver

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// run runs "kinform apiserver" until ctx ends.
func run(ctx context.Context, out, errOut io.Writer, flags ...string) error {
	cmd := Command()
	cmd.SetArgs(flags)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(ctx)
}

// start starts "kinform apiserver" on a free port. It returns the server's address once the server
// is ready. The test may stop the server early with the function stop, which returns the command's
// error.
func start(t *testing.T, flags ...string) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	var errOut bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, out, &errOut, append(flags, "--listen", "127.0.0.1:0")...)
		out.CloseWithError(err)
		ended <- err
	}()
	lines := bufio.NewScanner(in)
	require.True(t, lines.Scan(), "%v", lines.Err())
	said := regexp.MustCompile(`^Serving \d+ pods at (https?://127\.0\.0\.1:\d+) until Ctrl-C\.$`).FindStringSubmatch(lines.Text())
	require.NotNil(t, said, lines.Text())
	go func() { _, _ = io.Copy(io.Discard, in) }()
	stop = func() error {
		cancel()
		err := <-ended
		ended <- err
		require.Empty(t, errOut.String())
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return said[1], stop
}

// reach returns a client of the server that a kubeconfig names.
func reach(t *testing.T, path string) *rest.Client {
	t.Helper()
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := rest.NewClient(connection.Config, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func resource[T rest.Message](client *rest.Client, plural string) *rest.Resource[T] {
	return rest.Must(rest.NewResource[T](client, corev1.SchemeGroupVersion.WithResource(plural), rest.ResourceOptions{}))
}

func count[T any](t *testing.T, source listwatch.Source[T]) (n int) {
	t.Helper()
	list, err := source.List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	defer list.Close()
	for {
		if _, err = list.Next(); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return n
		}
		n++
	}
}

func TestKubeconfigOpensTheServerAndIsRemovedAtTheEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	_, stop := start(t, "--pods", "30", "--namespaces", "7", "--kubeconfig-out", path)

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	client := reach(t, path)
	pods := resource[*corev1.Pod](client, "pods")
	require.Equal(t, 30, count(t, pods))
	require.Equal(t, 4+7, count(t, resource[*corev1.Namespace](client, "namespaces")))

	made, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mine"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	key := types.NamespacedName{Namespace: "default", Name: "mine"}
	got, err := pods.Get(t.Context(), key, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, made.UID, got.UID)
	require.NoError(t, pods.Delete(t.Context(), key, metav1.DeleteOptions{}))

	require.NoError(t, stop())
	require.NoFileExists(t, path)
	_, err = pods.Get(t.Context(), key, metav1.GetOptions{})
	require.ErrorContains(t, err, "refused")
}

func TestChurnChangesPods(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	start(t, "--pods", "10", "--churn", "500", "--kubeconfig-out", path)
	watch, err := resource[*corev1.Pod](reach(t, path), "pods").Watch(t.Context(), listwatch.WatchOptions{})
	require.NoError(t, err)
	defer watch.Close()
	seen := map[listwatch.EventType]bool{}
	for len(seen) < 3 {
		event, err := watch.Next()
		require.NoError(t, err)
		seen[event.Type] = true
	}
	require.Contains(t, seen, listwatch.Modified)
	require.Contains(t, seen, listwatch.Deleted)
}

func TestServerKeepsAWindowOfChanges(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	start(t, "--pods", "10", "--window", "3", "--kubeconfig-out", path)
	pods := resource[*corev1.Pod](reach(t, path), "pods")
	watch, err := pods.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: "1"})
	if err == nil {
		defer watch.Close()
		_, err = watch.Next()
	}
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
}

func TestForeignKubeconfigIsNotOverwritten(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	foreign := kubeconfig.Connection{Config: rest.Config{Host: "https://precious.example", BearerToken: rest.NewSecret("t")}, Context: "kinform"}
	require.NoError(t, kubeconfig.Write(path, foreign))
	want := path + " exists and is not from this command: remove it, or name another file"

	require.ErrorContains(t, run(ended, io.Discard, io.Discard, "--listen", "127.0.0.1:0", "--kubeconfig-out", path), want)
	kept, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, foreign.Config.Host, kept.Config.Host)

	require.ErrorContains(t, run(ended, io.Discard, io.Discard, "--listen", "127.0.0.1:0", "--kubeconfig-out", t.TempDir()), "exists")
	missing := filepath.Join(t.TempDir(), "missing", "kubeconfig")
	require.ErrorContains(t, run(ended, io.Discard, io.Discard, "--listen", "127.0.0.1:0", "--kubeconfig-out", missing), "check that its folder exists")
}

func TestKubeconfigOfAnEarlierRunIsReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	// The run was killed.
	remove, err := writeKubeconfig(path, rest.Config{Host: "http://127.0.0.1:1"})
	require.NoError(t, err)
	url, stop := start(t, "--kubeconfig-out", path)
	require.Equal(t, url, configIn(path).Host)

	remove()
	require.FileExists(t, path, "remove must leave the kubeconfig of another server")
	require.NoError(t, stop())
	require.NoFileExists(t, path)
}

func TestInvalidFlags(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for want, flags := range map[string][]string{
		"--pods must not be negative":                         {"--pods", "-1"},
		"--namespaces at least 1":                             {"--namespaces", "0"},
		"--churn must be a number that is not negative":       {"--churn", "NaN"},
		"--window must be at least 1":                         {"--window", "0"},
		"--watch-timeout must be more than 0":                 {"--watch-timeout", "0s"},
		"--rbac needs --tls":                                  {"--rbac", "x"},
		"--ca-out needs --tls":                                {"--ca-out", "x"},
		"--rbac: open nowhere":                                {"--rbac", "nowhere", "--tls"},
		`there is no action "bad"`:                            {"--fault", "bad"},
		`unknown command "pods"`:                              {"pods"},
		`cannot listen on "here": address here: missing port`: {"--listen", "here"},
		`cannot listen on "` + taken.Addr().String() + `": bind: address already in use: choose another with --listen, such as 127.0.0.1:0`: {"--listen", taken.Addr().String()},
	} {
		require.ErrorContains(t, run(t.Context(), io.Discard, io.Discard, flags...), want)
	}
}

func TestListeningBeyondLoopbackGetsAWarning(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for address, warned := range map[string]bool{
		"127.0.0.1:0": false, "localhost:0": false, "[::1]:0": false, "0.0.0.0:0": true, ":0": true,
	} {
		var errOut bytes.Buffer
		err := run(ended, io.Discard, &errOut, "--listen", address)
		if address == "[::1]:0" && err != nil {
			continue // This machine has no IPv6.
		}
		require.NoError(t, err)
		require.Equal(t, warned, errOut.Len() > 0, address)
	}
}

func TestManagedFieldsFlag(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--managed-fields"}} {
		url, _ := start(t, flags...)
		client, err := rest.NewClient(rest.Config{Host: url}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		made, err := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{})).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}, Data: map[string]string{"x": "1"}}, metav1.CreateOptions{FieldManager: "me"})
		require.NoError(t, err)
		require.Len(t, made.ManagedFields, len(flags))
	}
}
