package kubeconfig_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/execauth"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func TestImpersonationIsLoaded(t *testing.T) {
	t.Parallel()
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: write(t, t.TempDir(), "config", kubeconfigOf(`server: "https://x.example"`,
		"token: a, as: jane, as-uid: '7', as-groups: [developers, admins], as-user-extra: {scopes: [view, edit]}"))})
	require.NoError(t, err)
	require.Equal(t, rest.Impersonation{
		User: "jane", UID: "7", Groups: []string{"developers", "admins"}, Extra: map[string][]string{"scopes": {"view", "edit"}},
	}, conn.Config.Impersonate)
}

// plugin is a script that puts its arguments, a variable and data of the cluster into the token.
const plugin = `#!/bin/sh
version=$(echo "$KUBERNETES_EXEC_INFO" | sed 's/.*"apiVersion":"\([^"]*\)".*/\1/')
server=$(echo "$KUBERNETES_EXEC_INFO" | sed -n 's/.*"server":"\([^"]*\)".*/\1/p')
config=$(echo "$KUBERNETES_EXEC_INFO" | sed -n 's/.*"config":{"audience":"\([^"]*\)".*/\1/p')
echo '{"kind":"ExecCredential","apiVersion":"'$version'","status":{"token":"'$*/$GREETING/$server/$config'"}}'
`

func TestExecPluginIsRunByTheClient(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(write(t, dir, "bin/get-token", plugin), 0o700))
	for user, want := range map[string]string{
		"exec: {command: ./bin/get-token, args: [for, me], env: [{name: GREETING, value: hello}], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}":     "Bearer for me/hello//",
		"exec: {command: ./bin/get-token, provideClusterInfo: true, apiVersion: client.authentication.k8s.io/v1beta1}":                                                      "Bearer //" + server.URL + "/me",
		"token: mine, exec: {command: ./bin/get-token, apiVersion: client.authentication.k8s.io/v1beta1}":                                                                   "Bearer mine",
		"username: me, password: '4711', exec: {command: ./bin/get-token, apiVersion: client.authentication.k8s.io/v1beta1}":                                                "Basic bWU6NDcxMQ==",
		"exec: {command: " + filepath.Join(dir, "bin/get-token") + ", args: [absolute], apiVersion: client.authentication.k8s.io/v1beta1, env: null, installHint: 'None.'}": "Bearer absolute///",
	} {
		path := write(t, dir, "config", kubeconfigOf(`server: "`+server.URL+`", insecure-skip-tls-verify: true,
			extensions: [{name: other, extension: {audience: you}}, {name: client.authentication.k8s.io/exec, extension: {audience: me}}]`, user))
		conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
		require.NoError(t, err)
		require.NotContains(t, conn.Config.String(), "mine")
		client, err := rest.NewClient(conn.Config, rest.Options{})
		require.NoError(t, err)
		got, err := client.Raw(t.Context(), http.MethodGet, "/", rest.RawOptions{})
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		client.Close()
	}
}

func TestMissingExecPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: write(t, dir, "config", kubeconfigOf(`server: "https://x.example"`,
		"exec: {command: ./get-token, apiVersion: client.authentication.k8s.io/v1beta1, installHint: 'Ask Jane for it.'}"))})
	require.NoError(t, err, "Load must not start the plugin")
	client, err := rest.NewClient(conn.Config, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Raw(t.Context(), http.MethodGet, "/", rest.RawOptions{})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, filepath.Join(dir, "get-token"))
	require.ErrorContains(t, err, "Ask Jane for it.")

	_, err = kubeconfig.Marshal(conn)
	require.ErrorContains(t, err, "exec plugin", "a file without the plugin would be for another user")
}

func TestDisallowedExecPlugin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(write(t, dir, "get-token", plugin), 0o700))
	path := write(t, dir, "config", kubeconfigOf(`server: "https://x.example"`,
		"exec: {command: ./get-token, apiVersion: client.authentication.k8s.io/v1beta1}"))
	for _, policy := range []execauth.Policy{{Type: execauth.DenyAll}, {Type: execauth.Allowlist, Allowed: []string{"get-token"}}} {
		conn, err := kubeconfig.Load(kubeconfig.Options{Path: path, Plugins: policy})
		require.NoError(t, err)
		_, err = conn.Config.Credentials(t.Context(), nil)
		require.ErrorIs(t, err, execauth.ErrNotAllowed)
	}
	_, err := kubeconfig.Load(kubeconfig.Options{Path: path, Plugins: execauth.Policy{Type: "Maybe"}})
	require.ErrorContains(t, err, `Policy.Type "Maybe" is unknown`)
}

func TestCredentialPipeIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The test uses a folder, because not every system has pipes.
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	_, err := kubeconfig.Load(kubeconfig.Options{Path: write(t, dir, "config", kubeconfigOf(`server: "https://x.example"`, "tokenFile: folder"))})
	require.ErrorContains(t, err, "is not a regular file: give the path of a regular file")
}

func TestExtensionsOfAnyType(t *testing.T) {
	t.Parallel()
	for _, extension := range []any{nil, 1, "a", []any{}, map[string]any{"a": []any{1}}} {
		text, err := json.Marshal(extension)
		require.NoError(t, err)
		config := strings.ReplaceAll(kubeconfigOf(`server: "https://x.example", extensions: [{name: minikube.sigs.k8s.io, extension: X}]`, "token: a"), "X", string(text))
		_, err = kubeconfig.Load(kubeconfig.Options{Path: write(t, t.TempDir(), "config", config)})
		require.NoError(t, err)
	}
}
