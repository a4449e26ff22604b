package rest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigHidesItsSecrets(t *testing.T) {
	t.Parallel()
	cfg := Config{
		Host: "https://user:hush@host", BearerToken: NewSecret("hush"), Password: NewSecret("hush"), Username: "me", BearerTokenFile: "/token",
		TLS: TLSConfig{KeyData: NewSecret("hush"), KeyFile: "/key", CAData: []byte("ca")},
	}
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("configuration", "config", cfg, "tls", cfg.TLS, "pointer", &cfg)
	for _, text := range []string{
		cfg.String(), cfg.GoString(), logged.String(), cfg.TLS.String(),
		fmt.Sprintf("%v %+v %#v %s %q %d %x", cfg, cfg, cfg, cfg, cfg, cfg, cfg),
		fmt.Sprintf("%v %+v %#v %s %d", &cfg, &cfg, &cfg, []Config{cfg}, cfg.TLS),
	} {
		require.NotContains(t, text, "hush")
		require.NotContains(t, text, fmt.Sprintf("%x", "hush"))
		require.NotContains(t, text, fmt.Sprint([]byte("hush")))
		require.Contains(t, text, "[redacted]")
	}
	for _, host := range []string{"admin:hush@10.0.0.1:6443", "https://10.0.0.1/?token=hush", "https://hush@host", "https://host#hush", "ftp://hush"} {
		require.Contains(t, Config{Host: host}.String(), `Host: "[invalid]"`)
	}
	require.Contains(t, Config{Host: "host:6443/path"}.String(), `Host: "host:6443/path"`)
	require.Contains(t, Config{}.String(), `Host: ""`)
	require.Contains(t, cfg.String(), `BearerTokenFile: "/token"`)
	require.Contains(t, Config{}.String(), `BearerToken: ""`)
}

func TestNewClientRefusesInvalidConfig(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, test := range []struct {
		cfg    Config
		reason string
	}{
		{Config{}, "Host: an address is required"},
		{Config{Host: "ftp://host"}, "neither https nor http"},
		{Config{Host: "https://user:hush@host"}, "holds credentials"},
		{Config{Host: "https://"}, "names no host"},
		{Config{Host: "https://host?a=b"}, "query"},
		{Config{Host: "https://user:hush@ho st"}, "not a URL"},
		{Config{Host: "host", BearerToken: NewSecret("a"), Username: "b"}, "exclude each other"},
		{Config{Host: "host", Password: NewSecret("hush")}, "needs a user name"},
		{Config{Host: "host", BearerTokenFile: "/does/not/exist"}, "/does/not/exist"},
		{Config{Host: "host", BearerTokenFile: empty}, "empty"},
		{Config{Host: "host", HeaderTimeout: -1}, "negative"},
		{Config{Host: "host", CredentialTimeout: -1}, "CredentialTimeout must not be negative"},
		{Config{Host: "host", TLS: TLSConfig{CAData: []byte("x"), CAFile: "x"}}, "both as data and as a file"},
		{Config{Host: "host", TLS: TLSConfig{CAData: []byte("x")}}, "no certificate in PEM"},
		{Config{Host: "host", TLS: TLSConfig{CAData: []byte("x"), Insecure: true}}, "exclude each other"},
		{Config{Host: "host", TLS: TLSConfig{CAFile: "/does/not/exist"}}, "/does/not/exist"},
		{Config{Host: "host", TLS: TLSConfig{CAFile: empty}}, "is empty"},
		{Config{Host: "host", TLS: TLSConfig{CertData: []byte("x")}}, "both a certificate and a key"},
		{Config{Host: "host", TLS: TLSConfig{KeyFile: "/does/not/exist"}}, "/does/not/exist"},
		{Config{Host: "host", TLS: TLSConfig{CertData: []byte("x"), KeyData: NewSecret("hush"), KeyPair: tls.X509KeyPair}}, "client certificate"},
		{Config{Host: "host", TLS: TLSConfig{CertData: []byte("x"), KeyData: NewSecret("hush")}}, "set it to tls.X509KeyPair"},
	} {
		_, err := NewClient(test.cfg, Options{})
		require.ErrorContains(t, err, test.reason)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestHostDefaultsToHTTPSAndKeepsItsPath(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"10.0.0.1:6443":                   "https://10.0.0.1:6443",
		"http://host":                     "http://host",
		"https://proxy.example/cluster/1": "https://proxy.example/cluster/1",
		"https://[fd00::1]:443/":          "https://[fd00::1]:443/",
	} {
		u, err := parseHost(host)
		require.NoError(t, err)
		require.Equal(t, want, u.String())
	}
	handler := &recorder{t: t, response: []byte("ok")}
	server := serve(t, handler, Options{})
	server.base.Path = "/cluster/1/"
	_, err := server.Raw(t.Context(), http.MethodGet, "/version", RawOptions{})
	require.NoError(t, err)
	require.Equal(t, "/cluster/1/version", handler.uri)
}

func TestInClusterConfig(t *testing.T) {
	t.Parallel()
	env := map[string]string{"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
	dir := t.TempDir()
	_, err := inClusterConfig(func(string) string { return "" }, dir)
	require.ErrorIs(t, err, ErrNotInCluster)
	_, err = inClusterConfig(func(key string) string { return env[key] }, dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, name := range []string{"token", "ca.crt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	cfg, err := inClusterConfig(func(key string) string { return env[key] }, dir)
	require.NoError(t, err)
	require.Equal(t, "https://[fd00::1]:443", cfg.Host)
	require.Equal(t, filepath.Join(dir, "token"), cfg.BearerTokenFile)
	require.Equal(t, filepath.Join(dir, "ca.crt"), cfg.TLS.CAFile)
}
