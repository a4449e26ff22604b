// Package exec helps to write exec plugins: it reads what they are told.
package exec

import (
	"errors"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"
	"k8s.io/client-go/rest"
)

// infoVariable is the variable of the environment that has what the plugin is told.
const infoVariable = "KUBERNETES_EXEC_INFO"

// LoadExecCredentialFromEnv is LoadExecCredential of what this plugin was told.
func LoadExecCredentialFromEnv() (runtime.Object, *rest.Config, error) {
	info := os.Getenv(infoVariable)
	if info == "" {
		return nil, nil, errors.New(infoVariable + " env var is unset or empty")
	}
	return LoadExecCredential([]byte(info))
}

// LoadExecCredential returns an ExecCredential, in the version that it has, and how to reach its cluster, without credentials. If
// it has no cluster, that is an error.
func LoadExecCredential(data []byte) (runtime.Object, *rest.Config, error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	told, kind, err := codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("decode: %w", err)
	}
	if want := clientauthentication.Kind("ExecCredential"); kind.GroupKind() != want {
		return nil, nil, fmt.Errorf("invalid group/kind: wanted %s, got %s", want, kind.GroupKind())
	}
	var credential clientauthentication.ExecCredential
	if err := scheme.Convert(told, &credential, nil); err != nil {
		return nil, nil, fmt.Errorf("cannot convert to ExecCredential: %w", err)
	}
	if credential.Spec.Cluster == nil {
		return nil, nil, errors.New("ExecCredential does not contain cluster information")
	}
	config, err := rest.ExecClusterToConfig(credential.Spec.Cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create rest.Config: %w", err)
	}
	return told, config, nil
}
