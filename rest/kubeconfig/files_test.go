package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret is a text that must not appear in an error.
const secret = "hunter2-s3cret"

// write writes a file with this content into a folder, and returns its path.
func write(t *testing.T, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// kubeconfigFile returns a kubeconfig with one context called name. Its server, token and namespace
// contain the argument suffix, which identifies the file.
func kubeconfigFile(name, suffix string) string {
	return strings.NewReplacer("NAME", name, "MARK", suffix).Replace(`
apiVersion: v1
kind: Config
current-context: NAME
clusters:
- name: NAME
  cluster: {server: "https://MARK.example:6443"}
users:
- name: NAME
  user: {token: MARK-token}
contexts:
- name: NAME
  context: {cluster: NAME, user: NAME, namespace: MARK-ns}
`)
}

// kubeconfigOf returns a kubeconfig with one context. cluster and user are the fields of its
// cluster and its user, in YAML's flow style.
func kubeconfigOf(cluster, user string) string {
	return `
current-context: ctx
contexts: [{name: ctx, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {` + cluster + `}}]
users: [{name: u, user: {` + user + `}}]
`
}

// outsideCluster makes the test run as if it were outside of any cluster, with this home directory
// and this KUBECONFIG.
func outsideCluster(t *testing.T, home, list string) {
	t.Helper()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", list)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_SERVICE_PORT", "")
	t.Setenv("POD_NAMESPACE", "")
}
