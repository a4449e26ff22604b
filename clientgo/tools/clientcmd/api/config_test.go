package api

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full returns a Config in which every field with a reference is set.
func full() *Config {
	c := NewConfig()
	c.CurrentContext = "a"
	c.Contexts["a"] = &Context{Cluster: "a", AuthInfo: "a", Extensions: map[string]runtime.Object{"x": &runtime.Unknown{Raw: []byte("x")}}}
	c.Contexts["b"] = &Context{Cluster: "b", AuthInfo: "b"}
	for _, name := range []string{"a", "b"} {
		c.Clusters[name] = &Cluster{Server: "https://" + name, CertificateAuthorityData: []byte("ca")}
		c.AuthInfos[name] = &AuthInfo{
			Token: "secret", Password: "secret", ClientKeyData: []byte("secret"), ClientCertificateData: []byte("public"),
			ImpersonateGroups: []string{"g"}, ImpersonateUserExtra: map[string][]string{"e": {"v"}},
			AuthProvider: &AuthProviderConfig{Name: "p", Config: map[string]string{"k": "secret"}},
			Exec: &ExecConfig{Command: "c", Args: []string{"secret"}, Env: []ExecEnvVar{{"K", "secret"}}, Config: &runtime.Unknown{Raw: []byte("secret")},
				PluginPolicy: PluginPolicy{Allowlist: []AllowlistEntry{{"c"}}}},
		}
	}
	return c
}

func TestCopiesAreDeep(t *testing.T) {
	c := full()
	copied := c.DeepCopy()
	require.Equal(t, c, copied)
	user := copied.AuthInfos["a"]
	user.ImpersonateUserExtra["e"][0], user.ImpersonateGroups[0], user.ClientKeyData[0] = "other", "other", 'o'
	user.AuthProvider.Config["k"], user.Exec.Args[0], user.Exec.Env[0].Value, user.Exec.PluginPolicy.Allowlist[0].Command = "o", "o", "o", "o"
	user.Exec.Config.(*runtime.Unknown).Raw[0] = 'o'
	copied.Clusters["a"].CertificateAuthorityData[0] = 'o'
	copied.Contexts["a"].Extensions["x"].(*runtime.Unknown).Raw[0] = 'o'
	delete(copied.Contexts, "b")
	require.Equal(t, full(), c)
	require.Nil(t, (*Config)(nil).DeepCopy())
	require.Nil(t, (*Config)(nil).DeepCopyObject())
	require.Nil(t, (*ExecConfig)(nil).DeepCopy())
}

func TestMinifyKeepsOnlyTheCurrentContext(t *testing.T) {
	c := full()
	require.NoError(t, MinifyConfig(c))
	require.Len(t, c.Contexts, 1)
	require.Len(t, c.Clusters, 1)
	require.Contains(t, c.AuthInfos, "a")
	for change, complaint := range map[string]string{"none": "current-context must exist", "context": "cannot locate context", "cluster": "cannot locate cluster", "user": "cannot locate user"} {
		c := full()
		switch change {
		case "none":
			c.CurrentContext = ""
		case "context":
			c.CurrentContext = "none"
		case "cluster":
			c.Contexts["a"].Cluster = "none"
		case "user":
			c.Contexts["a"].AuthInfo = "none"
		}
		require.ErrorContains(t, MinifyConfig(c), complaint)
		require.Len(t, c.Contexts, 2)
	}
	require.True(t, IsConfigEmpty(NewConfig()))
	require.False(t, IsConfigEmpty(full()))
}

func TestSecretsAreRedacted(t *testing.T) {
	c := full()
	require.NotContains(t, fmt.Sprintf("%v %#v", c.AuthInfos["a"].Exec, *c.AuthInfos["a"].AuthProvider), "secret")
	require.Contains(t, (ExecConfig{}).String(), "nil")
	require.Contains(t, (AuthProviderConfig{}).GoString(), "nil")
	require.NoError(t, RedactSecrets(c))
	user := c.AuthInfos["b"]
	require.Equal(t, "REDACTED", user.Token)
	require.Equal(t, "REDACTED", user.Password)
	require.Equal(t, "REDACTED", string(user.ClientKeyData))
	require.Equal(t, "public", string(user.ClientCertificateData))
	c = full()
	ShortenConfig(c)
	require.Equal(t, "DATA+OMITTED", base64.StdEncoding.EncodeToString(c.AuthInfos["a"].ClientCertificateData))
	require.Equal(t, "REDACTED", c.AuthInfos["a"].Token)
}

func TestFlattenEmbedsFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"ca", "crt", "key"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	origin := filepath.Join(dir, "config")
	c := NewConfig()
	c.Clusters["a"] = &Cluster{LocationOfOrigin: origin, CertificateAuthority: "ca"}
	c.AuthInfos["a"] = &AuthInfo{LocationOfOrigin: origin, ClientCertificate: filepath.Join(dir, "crt"), ClientKey: "key"}
	require.NoError(t, FlattenConfig(c))
	require.Equal(t, "ca", string(c.Clusters["a"].CertificateAuthorityData))
	require.Equal(t, "crt", string(c.AuthInfos["a"].ClientCertificateData))
	require.Equal(t, "key", string(c.AuthInfos["a"].ClientKeyData))
	require.Empty(t, c.AuthInfos["a"].ClientKey)
	c.Clusters["a"].CertificateAuthority = "ca"
	require.ErrorContains(t, FlattenConfig(c), "both path and contents")
	c.Clusters["a"].CertificateAuthority, c.AuthInfos["a"].ClientKeyData, c.AuthInfos["a"].ClientKey = "", nil, "none"
	require.ErrorIs(t, FlattenConfig(c), os.ErrNotExist)
	require.Equal(t, "/b/a", ResolvePath("a", "/b"))
	require.Equal(t, "", ResolvePath("", "/b"))
	abs, err := MakeAbs("a", "/b")
	require.NoError(t, err)
	require.Equal(t, "/b/a", abs)
}

func TestConfigIsAnObject(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, AddToScheme(scheme))
	c := NewConfig()
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Config"})
	require.Equal(t, "v1", c.APIVersion)
	require.Equal(t, "Config", c.GroupVersionKind().Kind)
	require.True(t, scheme.Recognizes(SchemeGroupVersion.WithKind("Config")))
}
