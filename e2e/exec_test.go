package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
	"github.com/kinform/kinform/rest/kubeconfig"
)

const serviceAccount = "system:serviceaccount:" + cluster.Namespace + ":kinform"

// plugin is an exec plugin: a shell script that prints a file, and records each run.
type plugin struct{ dir string }

// newPlugin makes a plugin, and a kubeconfig whose user gets its credentials from the plugin.
func newPlugin(t *testing.T, apiVersion string) plugin {
	t.Helper()
	p := plugin{t.TempDir()}
	script := fmt.Sprintf("#!/bin/sh\necho run >>%s\ncat %s\n", p.file("runs"), p.file("answer"))
	require.NoError(t, os.WriteFile(p.file("get-credential"), []byte(script), 0o700))
	writeFile(t, p.file("kubeconfig"), fmt.Appendf(nil, `
apiVersion: v1
kind: Config
current-context: e2e
contexts: [{name: e2e, context: {cluster: e2e, user: e2e}}]
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: e2e, user: {exec: {apiVersion: %q, command: ./get-credential, interactiveMode: Never}}}]
`, kube.URL(), kube.CAFile(), apiVersion))
	return p
}

func (p plugin) file(name string) string { return filepath.Join(p.dir, name) }

// setStatus sets the status that the plugin prints in later runs.
func (p plugin) setStatus(t *testing.T, apiVersion string, status map[string]any) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": "ExecCredential", "status": status})
	require.NoError(t, err)
	writeFile(t, p.file("answer"), data)
}

// runs returns how often the plugin has run.
func (p plugin) runs(t *testing.T) int {
	t.Helper()
	data, err := os.ReadFile(p.file("runs"))
	require.NoError(t, err)
	return strings.Count(string(data), "\n")
}

// configure makes a client use the kubeconfig, and a network of its own.
func (p plugin) configure(t *testing.T) func(*rest.Config) {
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: p.file("kubeconfig")})
	require.NoError(t, err)
	return func(config *rest.Config) {
		dial := config.DialContext
		*config = connection.Config
		config.DialContext = dial
	}
}

func currentToken(t *testing.T) string {
	t.Helper()
	token, err := os.ReadFile(kube.TokenFile())
	require.NoError(t, err)
	return strings.TrimSpace(string(token))
}

func TestExecPluginRunsAgainAfterA401(t *testing.T) {
	for _, version := range []string{execauth.V1, execauth.V1beta1} {
		t.Run(version, func(t *testing.T) {
			exec := newPlugin(t, version)
			exec.setStatus(t, version, map[string]any{"token": currentToken(t)})
			s := pods
			s.configure = exec.configure(t)
			p := startPipeline[*corev1.Pod](t, s)
			p.waitForSync(t)
			requireUser(t, serviceAccount, p.client)
			require.Equal(t, 1, exec.runs(t))

			changes := podChurn()
			stop := changes.start(t)
			_, err := kube.RotateToken(t.Context())
			require.NoError(t, err)
			exec.setStatus(t, version, map[string]any{"token": currentToken(t)})
			stop()
			p.requireServerState(t)
			require.Empty(t, p.failures(), "an open watch must continue after its token is refused")
			require.Equal(t, 1, exec.runs(t))

			p.network.Cut() // The next watch begins with a token that the server refuses.
			p.network.Heal()
			changes.steps(t, 50)
			p.requireServerState(t)
			require.Equal(t, 1, p.count(apierrors.IsUnauthorized), "%v", p.failures())
			requireUser(t, serviceAccount, p.client)
			require.Equal(t, 2, exec.runs(t))
			p.stop(t)
		})
	}
}

func TestExecPluginRunsAgainWhenItsCredentialExpires(t *testing.T) {
	exec := newPlugin(t, execauth.V1)
	setCredential := func(user string, lifetime time.Duration) {
		cert, key, err := kube.ClientCertificate(user, time.Hour)
		require.NoError(t, err)
		exec.setStatus(t, execauth.V1, map[string]any{
			"clientCertificateData": string(cert), "clientKeyData": string(key),
			"expirationTimestamp": time.Now().Add(lifetime).UTC().Format(time.RFC3339),
		})
	}
	const lifetime = 15 * time.Second // long enough for two calls of whoami, even on a busy machine
	setCredential("alice", lifetime)
	s := pods
	s.configure = exec.configure(t)
	p := startPipeline[*corev1.Pod](t, s)
	p.waitForSync(t)
	requireUser(t, "alice", p.client)
	setCredential("bob", time.Hour)
	requireUser(t, "alice", p.client)
	time.Sleep(lifetime)
	requireUser(t, "bob", p.client)
	require.Equal(t, 2, exec.runs(t))
	changes := podChurn()
	changes.steps(t, 50)
	p.requireServerState(t)
	require.Empty(t, p.failures(), "the watch of alice must continue")
	p.stop(t)
}

func TestMissingExecPluginErrorSaysWhatToDo(t *testing.T) {
	exec := newPlugin(t, execauth.V1)
	require.NoError(t, os.Remove(exec.file("get-credential")))
	config := kube.Config()
	exec.configure(t)(&config)
	_, err := whoami(t.Context(), newClient(t, config))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "install it, or check the path")
}
