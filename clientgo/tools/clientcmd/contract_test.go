package clientcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// This file tests contracts on which programs rely, except the contracts about files, overrides and
// flags.

func TestADefaultConfigNamesItsFiles(t *testing.T) {
	t.Setenv("KUBECONFIG", "/a"+string(filepath.ListSeparator)+"/b")
	access := clientcmd.NewDefaultClientConfig(*api.NewConfig(), nil).ConfigAccess()
	require.NotNil(t, access)
	require.Equal(t, []string{"/a", "/b"}, access.GetLoadingPrecedence())
}

func TestGetLoadingPrecedenceReturnsACopy(t *testing.T) {
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: []string{"b", "a"}}
	rules.GetLoadingPrecedence()[0] = "c"
	require.Equal(t, []string{"b", "a"}, rules.Precedence)
}

func TestMigrationRulesNameTheOldConfigFile(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	old, ok := rules.MigrationRules[clientcmd.RecommendedHomeFile]
	require.True(t, ok)
	require.Equal(t, filepath.Join(os.Getenv("HOME"), ".kube", ".kubeconfig"), old)
}

func TestALockedConfigIsAnIsExistError(t *testing.T) {
	path := file(t, "https://server")
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}
	require.NoError(t, os.WriteFile(path+".lock", nil, 0o600))
	err := clientcmd.ModifyConfig(rules, *api.NewConfig(), false)
	require.True(t, os.IsExist(err), "programs call os.IsExist, which does not unwrap: %v", err)
}

func TestAnInaccessibleFolderIsNotAMissingFile(t *testing.T) {
	// a path below a file cannot exist
	path := filepath.Join(file(t, "https://server"), "config")
	_, err := (&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}).Load()
	require.ErrorContains(t, err, `error loading config file "`+path+`": `)
}

func TestAContextIsMergedWithoutOverrides(t *testing.T) {
	config, err := clientcmd.LoadFromFile(file(t, "https://server"))
	require.NoError(t, err)
	config.Contexts["other"] = &api.Context{Cluster: "c", AuthInfo: "u", Namespace: "n"}
	merged, err := clientcmd.NewNonInteractiveClientConfig(*config, "other", nil, nil).MergedRawConfig()
	require.NoError(t, err)
	require.Equal(t, "other", merged.CurrentContext)
	require.Equal(t, "x", config.CurrentContext)
}

func TestNoPromptIfTheConfigHasAUsername(t *testing.T) {
	config, err := clientcmd.LoadFromFile(file(t, "https://server"))
	require.NoError(t, err)
	config.AuthInfos["u"] = &api.AuthInfo{Username: "me"} // a proxy may require only a username
	asked := strings.NewReader("you\nsecret\n")
	c, err := clientcmd.NewInteractiveClientConfig(*config, "", nil, asked, nil).ClientConfig()
	require.NoError(t, err)
	require.Equal(t, "me", c.Username)
	require.Empty(t, c.Password)
	require.Equal(t, 11, asked.Len(), "the input was not read")
}

func TestControlCharactersOfAHintAreEscaped(t *testing.T) {
	config, err := clientcmd.LoadFromFile(file(t, "https://server"))
	require.NoError(t, err)
	config.AuthInfos["u"] = &api.AuthInfo{Exec: &api.ExecConfig{
		Command: "c", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode,
		InstallHint: "run\t\u001b[31m\u202eevil\u200b\r\n",
	}}
	c, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	require.NoError(t, err)
	require.Equal(t, "run\tU+001B[31mU+202EevilU+200B\r\n", c.ExecProvider.InstallHint)
}

func TestRemoveNamespacesPrefix(t *testing.T) {
	for value, want := range map[string]string{
		"ns/a": "a", "NS/a": "a", "Namespace/a": "a", "namespaces/a": "a", "ns/": "ns/", "namespaces/": "namespaces/", "a": "a", "": "", "ns/ns/a": "ns/a", "pods/a": "pods/a",
	} {
		got, err := clientcmd.RemoveNamespacesPrefix(value)
		require.NoError(t, err)
		require.Equal(t, want, got, value)
	}
}
