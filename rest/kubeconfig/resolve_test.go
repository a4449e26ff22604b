package kubeconfig_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/kubeconfig"
)

// loadSingle loads the kubeconfig that kubeconfigOf returns.
func loadSingle(t *testing.T, cluster, user string) kubeconfig.Connection {
	t.Helper()
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: write(t, t.TempDir(), "config", kubeconfigOf(cluster, user))})
	require.NoError(t, err)
	return conn
}

func TestClusterAndUserBecomeConfig(t *testing.T) {
	t.Parallel()
	cfg := loadSingle(t,
		`server: "https://x.example/prefix", tls-server-name: real, certificate-authority-data: Y2E=, proxy-url: "socks5://p:1", unknown: 1`,
		`username: me, password: `+secret+`, client-certificate-data: Y2VydA==, client-key-data: a2V5, unknown: [1]`).Config

	require.Equal(t, "https://x.example/prefix", cfg.Host)
	require.Equal(t, "real", cfg.TLS.ServerName)
	require.Equal(t, "ca", string(cfg.TLS.CAData))
	require.Equal(t, "cert", string(cfg.TLS.CertData))
	require.Equal(t, "key", cfg.TLS.KeyData.Reveal())
	require.Equal(t, "me", cfg.Username)
	require.Equal(t, secret, cfg.Password.Reveal())
	require.False(t, cfg.TLS.Insecure)

	proxy, err := cfg.Proxy(&http.Request{})
	require.NoError(t, err)
	require.Equal(t, "socks5://p:1", proxy.String())
}

func TestPrintedConnectionShowsNoSecret(t *testing.T) {
	t.Parallel()
	conn := loadSingle(t, `server: "https://x.example"`, "token: "+secret)
	require.Equal(t, secret, conn.Config.BearerToken.Reveal())
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", conn, conn, conn, &conn), secret)
}

func TestTokenAndTokenFileTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := write(t, dir, "token", "from the file")
	cfg := loadSingle(t, `server: "https://x.example"`, "token: inline, tokenFile: "+token).Config
	require.Equal(t, "inline", cfg.BearerToken.Reveal())
	require.Equal(t, token, cfg.BearerTokenFile)
	require.Nil(t, cfg.Proxy)
}

func TestSchemeIsAddedAsKubectlDoes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, cluster, want string }{
		{"plain", `server: "x.example:8080"`, "http://x.example:8080"},
		{"insecure TLS", `server: "x.example:6443", insecure-skip-tls-verify: true`, "https://x.example:6443"},
		{"with a CA", `server: "localhost:6443", certificate-authority-data: Y2E=`, "https://localhost:6443"},
		{"an IPv6 address", `server: "[::1]:8080"`, "http://[::1]:8080"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, loadSingle(t, tt.cluster, "").Config.Host)
		})
	}
}

func TestCredentialsAreNotSentUnencrypted(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"http://x.example", "HTTP://x.example", "x.example:8080"} {
		cfg := loadSingle(t, `server: "`+server+`"`, "token: "+secret).Config
		require.Empty(t, cfg.BearerToken.Reveal(), server)
	}
}

func TestUnknownFieldsAndUnusedEntriesAreIgnored(t *testing.T) {
	t.Parallel()
	content := kubeconfigOf(`server: "https://x.example"`, "") + `
preferences: {colors: true}
extensions: [{name: e, extension: {any: thing}}]
`
	path := write(t, t.TempDir(), "config", content)
	_, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)

	path = write(t, t.TempDir(), "config", `
current-context: good
contexts: [{name: good, context: {cluster: good}}, {name: bad, context: {cluster: bad, user: bad}}]
clusters: [{name: good, cluster: {server: "https://x.example"}}, {name: bad, cluster: {certificate-authority-data: "?"}}]
users: [{name: bad, user: {exec: {command: aws}}}]
`)
	_, err = kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
}

func TestJSONKubeconfig(t *testing.T) {
	t.Parallel()
	path := write(t, t.TempDir(), "config", `{"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c"}}],
		"clusters":[{"name":"c","cluster":{"server":"https://x.example"}}]}`)
	conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	require.Equal(t, "https://x.example", conn.Config.Host)
}

func TestImpersonationOverHTTP(t *testing.T) {
	t.Parallel()
	load := func(user string) (kubeconfig.Connection, error) {
		return kubeconfig.Load(kubeconfig.Options{Path: write(t, t.TempDir(), "config", kubeconfigOf(`server: "http://x.example"`, user))})
	}
	_, err := load("auth-provider: {name: x}")
	require.ErrorContains(t, err, "not supported")
	conn, err := load("as: bob, token: " + secret)
	require.NoError(t, err)
	require.Equal(t, "bob", conn.Config.Impersonate.User, "an unencrypted connection must impersonate too, because the client's own user may have more rights")
	require.Empty(t, conn.Config.BearerToken.Reveal(), "an unencrypted connection must have no token")
	conn, err = load("exec: {command: x}")
	require.NoError(t, err)
	require.Nil(t, conn.Config.Credentials)
}
