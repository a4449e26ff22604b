package watch

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest"
)

// Mistakes in the arguments are reported before any request is sent.
func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	config := save(t, rest.Config{Host: "http://127.0.0.1:1"})
	for want, args := range map[string][]string{
		"name one resource to watch, such as pods; 0 were given":                             {},
		"name one resource to watch, such as pods; 2 were given":                             {"pods", "services"},
		"--all-namespaces and --namespace contradict each other: use one":                    {"pods", "-A", "-n", "x"},
		"--for must not be negative, and --connect-timeout must be positive":                 {"pods", "--for", "-1s"},
		`output format "wide" is unknown: use table, json or yaml`:                           {"pods", "-o", "wide"},
		`--selector "a=(" is wrong: unable to parse requirement: found '(', expected: ident`: {"pods", "-l", "a=("},
		`--field-selector "a" is wrong: invalid selector: 'a'; can't understand 'a'`:         {"pods", "--field-selector", "a"},
		`there is no context "other" in kubeconfig "` + config + `": choose one of "test"`:   {"pods", "--context", "other"},
	} {
		require.Contains(t, fails(t, append(args, "--kubeconfig", config)...), want)
	}
	require.Contains(t, fails(t, "pods", "--connect-timeout", "0", "--kubeconfig", config), "--connect-timeout must be positive")
	require.Contains(t, fails(t, "pods", "--kubeconfig", "missing"), `kubeconfig "missing" cannot be read: no such file or directory`)
}

func TestWithoutAKubeconfig(t *testing.T) {
	for _, name := range []string{"KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	require.Contains(t, fails(t, "pods"), "no API server is configured: there is no kubeconfig at ")
}

func TestKubeconfigFromTheEnvironment(t *testing.T) {
	s := apitest.Start(t, apitest.Options{})
	put(t, s, pod("home", "a"))
	t.Setenv("KUBECONFIG", connect(t, s))
	w := start(t, "pods", "--context", "test")
	w.next()
	require.Contains(t, w.next(), " a ")
}

func TestWatchWithCertificatesAndToken(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{TLS: true, ClientCertificates: true, BearerToken: "right"})
	put(t, s, pod("home", "a"))
	config := certified(s)
	config.BearerToken = rest.NewSecret("right")
	w := start(t, "pods", "--kubeconfig", save(t, config))
	w.next()
	require.Contains(t, w.next(), " a ")
	require.NoError(t, w.stop())
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{})
	complete := func(kubeconfig string, args ...string) ([]string, cobra.ShellCompDirective) {
		cmd := Command()
		cmd.SetContext(t.Context())
		require.NoError(t, cmd.Flags().Set("kubeconfig", kubeconfig))
		return cmd.ValidArgsFunction(cmd, args, "")
	}
	names, directive := complete(connect(t, s))
	require.Equal(t, cobra.ShellCompDirectiveNoFileComp, directive)
	require.Subset(t, names, []string{"pods", "deployments.apps", "customresourcedefinitions.apiextensions.k8s.io"})

	names, directive = complete(connect(t, s), "pods")
	require.Empty(t, names, "a second resource must not be completed")
	require.Equal(t, cobra.ShellCompDirectiveNoFileComp, directive)

	_, directive = complete("missing")
	require.Equal(t, cobra.ShellCompDirectiveError, directive)
	broken := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	_, directive = complete(broken)
	require.Equal(t, cobra.ShellCompDirectiveError, directive)
}

// TestLoginHasNoTimeout: --connect-timeout does not limit a login, only requests to the
// cluster.
func TestLoginHasNoTimeout(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "waits for a login of six seconds")
	if runtime.GOOS == "windows" {
		t.Skip("the plugin is a script")
	}
	s := apitest.Start(t, apitest.Options{TLS: true, BearerToken: "right"})
	put(t, s, pod("home", "a"))
	dir := t.TempDir()
	answer := `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"right"}}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "login"), []byte("#!/bin/sh\nsleep 6\necho '"+answer+"'\n"), 0o700))
	config := fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: c, user: u, namespace: home}}],
		clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %q}}],
		users: [{name: u, user: {exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}}]}`,
		s.URL(), base64.StdEncoding.EncodeToString(s.CA()))
	path := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(config, "\t", " ")), 0o600))
	w := start(t, "pods", "--connect-timeout", "5s", "--kubeconfig", path)
	w.next()
	require.Contains(t, w.next(), " a ")
	require.NoError(t, w.stop())
}
