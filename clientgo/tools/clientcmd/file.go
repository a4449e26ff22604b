package clientcmd

import (
	"errors"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdlatest "k8s.io/client-go/tools/clientcmd/api/latest"
	"k8s.io/klog/v2"
)

// defaultKind is the type of a file without apiVersion and kind.
var defaultKind = schema.GroupVersionKind{Version: clientcmdlatest.Version, Kind: "Config"}

// Load decodes the content of a file. It does not resolve paths.
func Load(data []byte) (*clientcmdapi.Config, error) {
	read := runtime.Object(clientcmdapi.NewConfig())
	if len(data) > 0 {
		var err error
		if read, _, err = clientcmdlatest.Codec.Decode(data, &defaultKind, read); err != nil {
			return nil, err
		}
	}
	return read.(*clientcmdapi.Config), nil
}

// LoadFromFile reads a file and sets LocationOfOrigin of each entry to filename. It does not
// resolve paths.
func LoadFromFile(filename string) (*clientcmdapi.Config, error) {
	var config *clientcmdapi.Config
	data, err := os.ReadFile(filename)
	if err == nil {
		config, err = Load(data)
	}
	if err != nil {
		return nil, err
	}
	for name, user := range config.AuthInfos {
		config.AuthInfos[name] = orNew(user)
		config.AuthInfos[name].LocationOfOrigin = filename
	}
	for name, cluster := range config.Clusters {
		config.Clusters[name] = orNew(cluster)
		config.Clusters[name].LocationOfOrigin = filename
	}
	for name, context := range config.Contexts {
		config.Contexts[name] = orNew(context)
		config.Contexts[name].LocationOfOrigin = filename
	}
	return config, nil
}

func orNew[T any](v *T) *T {
	if v == nil {
		return new(T)
	}
	return v
}

// Write encodes a config in YAML.
func Write(config clientcmdapi.Config) ([]byte, error) {
	return runtime.Encode(clientcmdlatest.Codec, &config)
}

// WriteToFile writes a config in YAML. It creates missing folders. Only the user may read a new
// file.
func WriteToFile(config clientcmdapi.Config, filename string) error {
	content, err := Write(config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(filename), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filename, content, 0o600)
}

// GetConfigFromFileOrDie reads a file. If the file is missing, it returns an empty config. On any
// other error, it ends the program, as klog.Fatal does.
func GetConfigFromFileOrDie(filename string) *clientcmdapi.Config {
	config, err := LoadFromFile(filename)
	switch {
	case err == nil:
		return config
	case errors.Is(err, os.ErrNotExist):
		return clientcmdapi.NewConfig()
	}
	klog.FatalDepth(1, err)
	return nil
}
