package clientcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/auth"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kinform/kinform/apitest"
)

// Package proof/clientcmd compares a thousand files, overrides and flags with client-go.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// file writes a config with this server.
func file(t *testing.T, server string) string {
	config := api.NewConfig()
	config.Clusters["c"] = &api.Cluster{Server: server}
	config.AuthInfos["u"] = &api.AuthInfo{Token: "very secret"}
	config.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u", Namespace: "default"}
	config.CurrentContext = "x"
	path := filepath.Join(t.TempDir(), "folder", "config")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	return path
}

func TestProgramFindsItsServer(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	t.Setenv("KUBECONFIG", file(t, server.URL()))
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			config, err := loading.ClientConfig()
			require.NoError(t, err)
			require.Equal(t, server.URL(), config.Host)
		})
	}
	asking.Wait()
	config, err := loading.ClientConfig()
	require.NoError(t, err)
	namespace, _, err := loading.Namespace()
	require.NoError(t, err)
	_, err = typedcorev1.NewForConfigOrDie(config).ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
}

// A file that another program has locked is not written.
func TestLockedFileIsNotWritten(t *testing.T) {
	path := file(t, "https://server")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	changed, err := rules.GetStartingConfig()
	require.NoError(t, err)
	changed.CurrentContext = "other"
	require.NoError(t, os.WriteFile(path+".lock", nil, 0o600))
	err = clientcmd.ModifyConfig(rules, *changed, true)
	require.ErrorIs(t, err, os.ErrExist)
	require.ErrorContains(t, err, path)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))

	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, clientcmd.ModifyConfig(rules, *changed, true))
	require.NoFileExists(t, path+".lock")
	written, err := clientcmd.LoadFromFile(path)
	require.NoError(t, err)
	require.Equal(t, "other", written.CurrentContext)
}

func TestErrorsHaveNoSecrets(t *testing.T) {
	const secret = "very-secret"
	for _, document := range []string{
		"users: [{name: u, user: {token: " + secret + "}}, {name: u, user: {token: " + secret + "}}]",
		"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: " + secret + ", username: a, password: " + secret + "}}]\n" +
			"clusters: [{name: c, cluster: {server: 'https://c', proxy-url: 'http://u:" + secret + "@[::1'}}]",
	} {
		_, err := clientcmd.RESTConfigFromKubeConfig([]byte(document))
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
	}
}

func TestPodsNamespace(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	_, err := loading.ClientConfig()
	require.True(t, clientcmd.IsEmptyConfig(err), err)
	_, _, err = loading.Namespace()
	require.True(t, clientcmd.IsEmptyConfig(err), err)
}

func TestTypedCredentialsAreSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth")
	loader := clientcmd.NewPromptingAuthLoader(strings.NewReader("me\nsecret\n"))
	typed, err := loader.LoadAuth(path)
	require.NoError(t, err)
	require.Equal(t, &auth.Info{User: "me", Password: "secret"}, typed)
	require.True(t, typed.Complete())
	again, err := clientcmd.NewDefaultAuthLoader().LoadAuth(path)
	require.NoError(t, err)
	require.Equal(t, typed, again)
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: s}}]\nusers: [{name: u, user: {exec: {command: c}}}]\ncontexts: [{name: x, context: {}}]\nextensions: [{name: e, extension: 1}]\n"))
	f.Add([]byte("clusters: [{name: a}, {name: a}]"))
	f.Add([]byte("users: [null]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := clientcmd.Load(data)
		if err != nil {
			return
		}
		text, err := clientcmd.Write(*config)
		if err != nil {
			return // an extension that is not JSON
		}
		again, err := clientcmd.Load(text)
		require.NoError(t, err)
		require.Equal(t, config.CurrentContext, again.CurrentContext)
		require.Len(t, again.Clusters, len(config.Clusters))
		_ = clientcmd.Validate(*config)
		_, _ = clientcmd.NewDefaultClientConfig(*config, &clientcmd.ConfigOverrides{}).ClientConfig()
		_ = clientcmd.ResolveConfigPaths(config, "/base")
	})
}
