package exec_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/plugin/pkg/client/auth/exec"
	"k8s.io/client-go/rest"
	execinfo "k8s.io/client-go/tools/auth/exec"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/transport"
)

const v1 = "client.authentication.k8s.io/v1"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plugin writes a command that runs script and appends a line to a file for each run. The function
// runs returns the number of lines.
func plugin(t *testing.T, script string) (config *clientcmdapi.ExecConfig, runs func() int) {
	dir := t.TempDir()
	command := filepath.Join(dir, "plugin")
	require.NoError(t, os.WriteFile(command, []byte("#!/bin/sh\ncd "+dir+"\necho >> runs\n"+script+"\n"), 0o700))
	return &clientcmdapi.ExecConfig{Command: command, APIVersion: v1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode}, func() int {
		lines, _ := os.ReadFile(filepath.Join(dir, "runs"))
		return strings.Count(string(lines), "\n")
	}
}

func execCredential(status string) string {
	return `echo '{"apiVersion":"` + v1 + `","kind":"ExecCredential","status":` + status + `}'`
}

func client(t *testing.T, config *rest.Config) *http.Client {
	c, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(t *testing.T, c *http.Client, url string) int {
	resp, err := c.Get(url)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// All clients of a program share a command's token until the server rejects the token.
func TestTokenIsSharedUntilTheServerRejectsIt(t *testing.T) {
	var wanted atomic.Value
	wanted.Store("token-1")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+wanted.Load().(string) {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	config, runs := plugin(t, `n=$(wc -l < runs | tr -d ' '); `+strings.ReplaceAll(execCredential(`{"token":"token-N"}`), "N", `'"$n"'`))
	one, other := client(t, &rest.Config{Host: server.URL, ExecProvider: config}), client(t, &rest.Config{Host: server.URL, ExecProvider: config.DeepCopy()})
	var asking sync.WaitGroup
	for range 5 {
		asking.Go(func() { get(t, one, server.URL) })
		asking.Go(func() { get(t, other, server.URL) })
	}
	asking.Wait()
	require.Equal(t, http.StatusOK, get(t, one, server.URL))
	require.Equal(t, 1, runs())

	wanted.Store("token-2")
	require.Equal(t, http.StatusUnauthorized, get(t, one, server.URL), "the caller gets the 401 response")
	require.Equal(t, http.StatusOK, get(t, other, server.URL))
	require.Equal(t, 2, runs())
}

// A program's own token takes precedence over the command's token.
func TestTokenOfAConfigTakesPrecedence(t *testing.T) {
	config, runs := plugin(t, execCredential(`{"token":"other"}`))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer own" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	require.Equal(t, http.StatusOK, get(t, client(t, &rest.Config{Host: server.URL, BearerToken: "own", ExecProvider: config}), server.URL))
	require.Zero(t, runs())
}

// When the certificate changes, connections with the old certificate are closed.
func TestConnectionsAreClosedWhenTheCertificateChanges(t *testing.T) {
	var names sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.TLS.PeerCertificates[0].Subject.CommonName
		names.Store(name, true)
		if name == "first" && r.URL.Path == "/second" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()
	config, _ := plugin(t, `cat "answer-$(wc -l < runs | tr -d ' ')"`)
	for i, name := range []string{"first", "second"} {
		cert, key := certificate(t, name, time.Hour)
		status, err := json.Marshal(map[string]any{"apiVersion": v1, "kind": "ExecCredential", "status": map[string]string{"clientCertificateData": cert, "clientKeyData": key}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(config.Command), fmt.Sprintf("answer-%d", i+1)), status, 0o600))
	}
	c := client(t, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, ExecProvider: config})
	require.Equal(t, http.StatusOK, get(t, c, server.URL))
	require.Equal(t, http.StatusUnauthorized, get(t, c, server.URL+"/second"))
	require.Eventually(t, func() bool {
		resp, err := c.Get(server.URL + "/second") // the connection may close in the meantime
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
}

func certificate(t *testing.T, name string, left time.Duration) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(left)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// Package tools/auth/exec can decode the input that a plugin gets.
func TestPluginGetsClusterInfo(t *testing.T) {
	input := filepath.Join(t.TempDir(), "told")
	config, _ := plugin(t, `printf %s "$KUBERNETES_EXEC_INFO" > `+input+"\necho \"$1 $EXTRA\" > args\n"+execCredential(`{"token":"t"}`))
	config.ProvideClusterInfo = true
	config.Args = []string{"argument"}
	config.Env = []clientcmdapi.ExecEnvVar{{Name: "EXTRA", Value: "variable"}}
	config.Config = &runtime.Unknown{Raw: []byte(`{"audience":"x"}`), ContentType: runtime.ContentTypeJSON}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	require.Equal(t, http.StatusOK, get(t, client(t, &rest.Config{Host: server.URL, ExecProvider: config, TLSClientConfig: rest.TLSClientConfig{ServerName: "name"}}), server.URL))

	info, err := os.ReadFile(input)
	require.NoError(t, err)
	_, clusterConfig, err := execinfo.LoadExecCredential(info)
	require.NoError(t, err)
	require.Equal(t, server.URL, clusterConfig.Host)
	require.Equal(t, "name", clusterConfig.ServerName)
	require.Contains(t, string(info), `"audience":"x"`)
	args, err := os.ReadFile(filepath.Join(filepath.Dir(config.Command), "args"))
	require.NoError(t, err)
	require.Equal(t, "argument variable\n", string(args))
	t.Setenv("KUBERNETES_EXEC_INFO", string(info))
	_, _, err = execinfo.LoadExecCredentialFromEnv()
	require.NoError(t, err)
	for _, bad := range []string{"", "{", `{"apiVersion":"v1","kind":"Pod"}`, `{"apiVersion":"` + v1 + `","kind":"ExecCredential","spec":{}}`} {
		_, _, err := execinfo.LoadExecCredential([]byte(bad))
		require.Error(t, err, bad)
	}
}

func TestInvalidExecConfigsAreRefused(t *testing.T) {
	usable := func() *clientcmdapi.ExecConfig {
		return &clientcmdapi.ExecConfig{Command: "no-such-plugin", APIVersion: v1, InteractiveMode: clientcmdapi.NeverExecInteractiveMode, InstallHint: "get it from here"}
	}
	for says, change := range map[string]func(*clientcmdapi.ExecConfig){
		"apiVersion":               func(c *clientcmdapi.ExecConfig) { c.APIVersion = "client.authentication.k8s.io/v1alpha1" },
		"cluster":                  func(c *clientcmdapi.ExecConfig) { c.ProvideClusterInfo = true },
		"unknown plugin policy":    func(c *clientcmdapi.ExecConfig) { c.PluginPolicy.PolicyType = "Some" },
		"allowlist is unspecified": func(c *clientcmdapi.ExecConfig) { c.PluginPolicy.PolicyType = clientcmdapi.PluginPolicyAllowlist },
		"allowlist is non-nil":     func(c *clientcmdapi.ExecConfig) { c.PluginPolicy.Allowlist = []clientcmdapi.AllowlistEntry{} },
		"empty allowlist": func(c *clientcmdapi.ExecConfig) {
			c.PluginPolicy = clientcmdapi.PluginPolicy{PolicyType: clientcmdapi.PluginPolicyAllowlist, Allowlist: []clientcmdapi.AllowlistEntry{{}}}
		},
	} {
		config := usable()
		change(config)
		_, err := exec.GetAuthenticator(config, nil)
		require.ErrorContains(t, err, says)
	}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	_, err := client(t, &rest.Config{Host: server.URL, ExecProvider: usable()}).Get(server.URL)
	require.ErrorContains(t, err, "getting credentials")
	require.ErrorContains(t, err, "get it from here")
	for says, change := range map[string]func(*clientcmdapi.ExecConfig){
		"the program reads it": func(c *clientcmdapi.ExecConfig) {
			c.InteractiveMode, c.StdinUnavailable, c.StdinUnavailableMessage = clientcmdapi.AlwaysExecInteractiveMode, true, "the program reads it"
		},
		"unknown interactiveMode": func(c *clientcmdapi.ExecConfig) { c.InteractiveMode = "Seldom" },
		"getting credentials":     func(c *clientcmdapi.ExecConfig) { c.Command = "" },
	} {
		config := usable()
		change(config)
		_, err := client(t, &rest.Config{Host: server.URL, ExecProvider: config}).Get(server.URL)
		require.ErrorContains(t, err, says)
	}
	untold := usable()
	untold.InteractiveMode, untold.StdinUnavailable = clientcmdapi.AlwaysExecInteractiveMode, true
	_, err = client(t, &rest.Config{Host: server.URL, ExecProvider: untold}).Get(server.URL)
	require.Regexp(t, "standard input is unavailable$", err)
	denied := usable()
	denied.PluginPolicy.PolicyType = clientcmdapi.PluginPolicyDenyAll
	_, err = client(t, &rest.Config{Host: server.URL, ExecProvider: denied}).Get(server.URL)
	require.ErrorContains(t, err, "policy")

	authenticator, err := exec.GetAuthenticator(usable(), &clientauthentication.Cluster{})
	require.NoError(t, err)
	require.ErrorContains(t, authenticator.UpdateTransportConfig(&transport.Config{TLS: transport.TLSConfig{GetCertHolder: &transport.GetCertHolder{}}}), "already set")
	require.ErrorContains(t, authenticator.UpdateTransportConfig(&transport.Config{DialHolder: &transport.DialHolder{}}), "Dial function is nil")
	_, err = rest.HTTPClientFor(&rest.Config{Host: server.URL, ExecProvider: usable(), AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "p"}})
	require.ErrorContains(t, err, "combination")
}

// A command may take longer than the timeout of requests. The next request uses the command's
// credential.
func TestACommandMayTakeLongerThanTheRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	config, runs := plugin(t, "touch started\nwhile [ ! -e go ]; do sleep 0.01; done\n"+execCredential(`{"token":"t"}`))
	dir := filepath.Dir(config.Command)
	c := client(t, &rest.Config{Host: server.URL, ExecProvider: config})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		_, err := c.Do(req)
		failed <- err
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(dir, "started")); return err == nil }, time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	require.ErrorIs(t, <-failed, context.Canceled)
	require.Equal(t, http.StatusOK, get(t, c, server.URL))
	require.Equal(t, 1, runs())
}

// A command may print login instructions on standard error, even if it cannot prompt the user.
func TestACommandInheritsStandardError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	before := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = before }()
	config, _ := plugin(t, "echo visit this page >&2\n"+execCredential(`{"token":"t"}`))
	require.Equal(t, http.StatusOK, get(t, client(t, &rest.Config{Host: server.URL, ExecProvider: config}), server.URL))
	require.NoError(t, write.Close())
	said, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "visit this page\n", string(said))
}

// metricsRecorder records the calls of the metrics.
type metricsRecorder struct {
	mu    sync.Mutex // guards following
	lines []string
	ends  []*time.Time
}

func (m *metricsRecorder) add(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, line)
}

func (m *metricsRecorder) Increment(code int, status string) { m.add(fmt.Sprint(code, " ", status)) }

func (m *metricsRecorder) Set(end *time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends = append(m.ends, end)
}

func (m *metricsRecorder) Observe(age time.Duration) { m.add(fmt.Sprint("age ", age.Round(time.Hour))) }

type policyRecorder struct{ *metricsRecorder }

func (m policyRecorder) Increment(status string) { m.add(status) }

func TestRunsOfCommandsAreCounted(t *testing.T) {
	m := &metricsRecorder{}
	calls, policies, age, end := metrics.ExecPluginCalls, metrics.ExecPluginPolicyCalls, metrics.ClientCertRotationAge, metrics.ClientCertExpiry
	metrics.ExecPluginCalls, metrics.ExecPluginPolicyCalls, metrics.ClientCertRotationAge, metrics.ClientCertExpiry = m, policyRecorder{m}, m, m
	defer func() {
		metrics.ExecPluginCalls, metrics.ExecPluginPolicyCalls, metrics.ClientCertRotationAge, metrics.ClientCertExpiry = calls, policies, age, end
	}()
	var refuse atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuse.Load() {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	try := func(change func(*clientcmdapi.ExecConfig), script string) *http.Client {
		config, _ := plugin(t, script)
		change(config)
		c := client(t, &rest.Config{Host: server.URL, ExecProvider: config})
		if resp, err := c.Get(server.URL); err == nil {
			require.NoError(t, resp.Body.Close())
		}
		return c
	}
	same := func(*clientcmdapi.ExecConfig) {}
	try(same, execCredential(`{"token":"t"}`))
	try(same, "exit 3")
	try(func(c *clientcmdapi.ExecConfig) { c.Command = "no-such-plugin" }, "")
	try(func(c *clientcmdapi.ExecConfig) { c.PluginPolicy.PolicyType = clientcmdapi.PluginPolicyDenyAll }, "")
	require.Equal(t, []string{"allowed", "0 no_error", "allowed", "3 plugin_execution_error", "allowed", "1 plugin_not_found_error", "denied"}, m.lines)

	m.lines, m.ends = nil, nil
	cert, key := certificate(t, "name", time.Minute)
	first, err := json.Marshal(map[string]any{"apiVersion": v1, "kind": "ExecCredential", "status": map[string]string{"clientCertificateData": cert, "clientKeyData": key}})
	require.NoError(t, err)
	c := try(same, "if [ -e first ]; then "+execCredential(`{"token":"t"}`)+"; exit; fi\ntouch first\necho '"+strings.ReplaceAll(string(first), `\n`, `\\n`)+"'")
	refuse.Store(true)
	require.Equal(t, http.StatusUnauthorized, get(t, c, server.URL))
	require.Equal(t, []string{"allowed", "0 no_error", "allowed", "0 no_error", "age 1h0m0s"}, m.lines)
	require.Len(t, m.ends, 2)
	require.WithinDuration(t, time.Now().Add(time.Minute), *m.ends[0], time.Minute)
	require.NotEqual(t, m.ends[0], m.ends[1], "the expiry of the replaced certificate is dropped")
}
