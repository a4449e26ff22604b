package rest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// A Config prints all of its fields. The embedded TLSClientConfig has print methods, which must not
// be promoted to the Config.
func TestAConfigPrintsWithoutSecrets(t *testing.T) {
	config := &rest.Config{
		Host: "h", Username: "u", Password: "secret", BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{ServerName: "n", KeyData: []byte("secret")},
		AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "p", Config: map[string]string{"secret": "secret"}},
		ExecProvider: &clientcmdapi.ExecConfig{Command: "c", Args: []string{"secret"}, Env: []clientcmdapi.ExecEnvVar{{Name: "e", Value: "secret"}}},
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		text := fmt.Sprintf(format, config)
		for _, part := range []string{`Host:"h"`, `Username:"u"`, `ServerName:"n"`, `Name: "p"`, `Command: "c"`} {
			require.Contains(t, text, part, format)
		}
		require.NotContains(t, text, "secret", format)
	}
	require.Equal(t, "secret", config.Password)
	require.Contains(t, config.AuthProvider.Config, "secret")
}
