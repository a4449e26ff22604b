package kubeconfig_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestExplicitPathWinsOverEnvironmentAndHome(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".kube/config", kubeconfigFile("home", "home"))
	outsideCluster(t, dir, write(t, dir, "env", kubeconfigFile("env", "env")))
	explicit := write(t, dir, "explicit", kubeconfigFile("explicit", "explicit"))

	conn, err := kubeconfig.Load(kubeconfig.Options{Path: explicit})
	require.NoError(t, err)
	require.Equal(t, "https://explicit.example:6443", conn.Config.Host)
	require.Equal(t, "explicit-token", conn.Config.BearerToken.Reveal())
	require.Equal(t, "explicit-ns", conn.Namespace)
	require.Equal(t, "explicit", conn.Context)
}

func TestEnvironmentWinsOverHome(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".kube/config", kubeconfigFile("home", "home"))
	outsideCluster(t, dir, write(t, dir, "env", kubeconfigFile("env", "env")))

	conn, err := kubeconfig.Load(kubeconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, "env", conn.Context)
}

func TestHomeIsReadWithoutEnvironment(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".kube/config", kubeconfigFile("home", "home"))
	outsideCluster(t, dir, "")

	conn, err := kubeconfig.Load(kubeconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, "home", conn.Context)
}

func TestFirstFileWinsPerEntry(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, "first", `
clusters: [{name: shared, cluster: {server: "https://first.example"}}]
users: [{name: shared, user: {token: first-token}}]
contexts: [{name: a, context: {cluster: shared, user: shared}}]
`)
	second := write(t, dir, "second", `
current-context: b
clusters:
- {name: shared, cluster: {server: "https://second.example", tls-server-name: second}}
- {name: own, cluster: {server: "https://own.example"}}
users: [{name: shared, user: {username: second}}]
contexts:
- {name: a, context: {cluster: own}}
- {name: b, context: {cluster: shared, user: shared, namespace: b-ns}}
`)
	third := write(t, dir, "third", "current-context: a")
	missing := filepath.Join(dir, "missing")
	outsideCluster(t, dir, strings.Join([]string{missing, first, "", second, third}, string(filepath.ListSeparator)))

	conn, err := kubeconfig.Load(kubeconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, "b", conn.Context, "the first file with a current-context must win")
	require.Equal(t, "b-ns", conn.Namespace)
	require.Equal(t, "https://first.example", conn.Config.Host)
	require.Empty(t, conn.Config.TLS.ServerName, "the fields of an entry must come from one file")
	require.Equal(t, "first-token", conn.Config.BearerToken.Reveal())
	require.Empty(t, conn.Config.Username, "the fields of an entry must come from one file")

	conn, err = kubeconfig.Load(kubeconfig.Options{Context: "a"})
	require.NoError(t, err)
	require.Equal(t, "https://first.example", conn.Config.Host)
	require.Equal(t, "default", conn.Namespace)
}

func TestRelativePathsAreRelativeToTheirFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/pki/ca.crt", "b/client.crt", "b/client.key", "b/token"} {
		write(t, dir, name, "content")
	}
	a := write(t, dir, "a/config", `
current-context: x
contexts: [{name: x, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://x.example", certificate-authority: pki/ca.crt}}]
`)
	b := write(t, dir, "b/config", `
users: [{name: u, user: {client-certificate: client.crt, client-key: ./client.key, tokenFile: ../b/token}}]
`)
	outsideCluster(t, dir, a+string(filepath.ListSeparator)+b)

	conn, err := kubeconfig.Load(kubeconfig.Options{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "a/pki/ca.crt"), conn.Config.TLS.CAFile)
	require.Equal(t, filepath.Join(dir, "b/client.crt"), conn.Config.TLS.CertFile)
	require.Equal(t, filepath.Join(dir, "b/client.key"), conn.Config.TLS.KeyFile)
	require.Equal(t, filepath.Join(dir, "b/token"), conn.Config.BearerTokenFile)
}

func TestRelativePathOfAFileItself(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sub/ca.crt", "content")
	write(t, dir, "sub/config", kubeconfigOf(`server: "https://x.example", certificate-authority: ca.crt`, ""))
	t.Chdir(dir)

	conn, err := kubeconfig.Load(kubeconfig.Options{Path: "sub/config"})
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(conn.Config.TLS.CAFile), "the path must not depend on the current directory: %s", conn.Config.TLS.CAFile)
}

func TestNothingConfigured(t *testing.T) {
	dir := t.TempDir()
	empty := write(t, dir, "empty", "")
	noCurrent := write(t, dir, "no-current", "contexts: [{name: one, context: {}}, {name: two, context: {}}]")
	missing := filepath.Join(dir, "missing")
	tests := []struct {
		name, path, env, want string
	}{
		{"no file at home", "", "", filepath.Join(dir, ".kube", "config")},
		{"no file of the list", "", missing, missing},
		{"a list without files", "", string(filepath.ListSeparator), "no path of a kubeconfig is known"},
		{"an empty file", "", empty, "has no contexts"},
		{"an empty explicit file", empty, "", "has no contexts"},
		{"no current-context", "", noCurrent, `choose one of "one", "two"`},
		{"no current-context in an explicit file", noCurrent, "", `choose one of "one", "two"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			outsideCluster(t, dir, tt.env)
			_, err := kubeconfig.Load(kubeconfig.Options{Path: tt.path})
			require.ErrorIs(t, err, kubeconfig.ErrNoConfig)
			require.ErrorContains(t, err, tt.want)
			if tt.path == "" {
				require.ErrorContains(t, err, "pod", "the error must name the pod's service account, which Load tried as well")
			} else {
				require.NotContains(t, err.Error(), "pod", "with an explicit file, Load must not try the pod's service account")
			}
		})
	}
}

func TestMissingHomeMeansNoFile(t *testing.T) {
	outsideCluster(t, "", "")
	_, err := kubeconfig.Load(kubeconfig.Options{})
	require.ErrorIs(t, err, kubeconfig.ErrNoConfig)
	require.ErrorContains(t, err, "no path of a kubeconfig is known")
}

func TestRequestedContextExcludesInClusterConfig(t *testing.T) {
	outsideCluster(t, t.TempDir(), "")
	_, err := kubeconfig.Load(kubeconfig.Options{Context: "prod"})
	require.NotErrorIs(t, err, kubeconfig.ErrNoConfig)
	require.ErrorContains(t, err, `no context "prod"`)
	require.ErrorContains(t, err, "no kubeconfig at")
}
