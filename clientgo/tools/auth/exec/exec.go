// Package exec helps to write exec plugins: it decodes their input.
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

// infoVariable is the environment variable with the plugin's input.
const infoVariable = "KUBERNETES_EXEC_INFO"

// LoadExecCredentialFromEnv is LoadExecCredential for the plugin's environment variable.
func LoadExecCredentialFromEnv() (runtime.Object, *rest.Config, error) {
	info := os.Getenv(infoVariable)
	if info == "" {
		return nil, nil, errors.New(infoVariable + " env var is unset or empty")
	}
	return LoadExecCredential([]byte(info))
}

// LoadExecCredential decodes an ExecCredential into the type of its version. It also returns the
// connection to the cluster of the ExecCredential, without credentials. An ExecCredential without a
// cluster is an error.
func LoadExecCredential(data []byte) (runtime.Object, *rest.Config, error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	decoded, kind, err := codecs.UniversalDeserializer().Decode(data, nil, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("decode: %w", err)
	}
	if want := clientauthentication.Kind("ExecCredential"); kind.GroupKind() != want {
		return nil, nil, fmt.Errorf("invalid group/kind: wanted %s, got %s", want, kind.GroupKind())
	}
	var credential clientauthentication.ExecCredential
	if err := scheme.Convert(decoded, &credential, nil); err != nil {
		return nil, nil, fmt.Errorf("cannot convert to ExecCredential: %w", err)
	}
	if credential.Spec.Cluster == nil {
		return nil, nil, errors.New("ExecCredential does not contain cluster information")
	}
	config, err := rest.ExecClusterToConfig(credential.Spec.Cluster)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create rest.Config: %w", err)
	}
	return decoded, config, nil
}
