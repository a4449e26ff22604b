package apiserver

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestTLSIsTrustedByItsKubeconfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, ca := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "ca.pem")
	url, stop := start(t, "--tls", "--kubeconfig-out", path, "--ca-out", ca)
	require.Contains(t, url, "https://127.0.0.1:")
	require.Zero(t, count(t, resource[*corev1.Pod](reach(t, path), "pods")))

	trusted, err := os.ReadFile(ca)
	require.NoError(t, err)
	require.NotContains(t, string(trusted), "PRIVATE KEY")
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(trusted))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(url + "/healthz")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	// A run that was killed leaves a kubeconfig with a CA, a certificate and a key. The next run
	// replaces it.
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, stop())
	require.NoFileExists(t, path)
	require.NoFileExists(t, ca)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	_, stop = start(t, "--kubeconfig-out", path)
	require.NoError(t, stop())
}

func TestRBACFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, path := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(rules, []byte(`
tokens:
  secret-of-alice: {name: alice, groups: [developers]}
rules:
- groups: [developers]
  namespaces: [default]
  verbs: [get, list, watch]
  apiGroups: [""]
  resources: [pods]
`), 0o600))
	url, stop := start(t, "--tls", "--rbac", rules, "--kubeconfig-out", path)
	require.Zero(t, count(t, resource[*corev1.Pod](reach(t, path), "pods")), "the certificate in the kubeconfig must be allowed everything")
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	alice, err := rest.NewClient(rest.Config{Host: url, TLS: rest.TLSConfig{CAData: connection.Config.TLS.CAData}, BearerToken: rest.NewSecret("secret-of-alice")}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(alice.Close)
	_, err = resource[*corev1.Pod](alice, "pods").Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "x"}, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	_, err = resource[*corev1.Secret](alice, "secrets").Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "x"}, metav1.GetOptions{})
	require.ErrorContains(t, err, `User "alice" cannot get resource "secrets" in API group "" in the namespace "default"`)

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, stop())
	require.NoError(t, os.WriteFile(path, content, 0o600)) // The run was killed.
	_, stop = start(t, "--kubeconfig-out", path)
	require.NoError(t, stop())

	for want, content := range map[string]string{
		"must hold only tokens and rules in YAML":             "secret: x",
		"has a token without a user name":                     "tokens: {secret: {groups: [a]}}",
		"rule 1 must have users or groups, and verbs":         "rules: [{users: [a]}]",
		"must hold only tokens and rules in YAML, as kinform": "{secret",
	} {
		require.NoError(t, os.WriteFile(rules, []byte(content), 0o600))
		_, err := readAccess(rules)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestCAOutDoesNotOverwrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
	_, err := writeCA(path, nil)
	require.ErrorContains(t, err, "exists: remove it")
	_, err = writeCA(filepath.Join(path, "x"), nil)
	require.Error(t, err)
}
