package clientcmd

import (
	"os"
	"path/filepath"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/homedir"
)

// Names that kubectl and other commands share.
const (
	RecommendedConfigPathFlag   = "kubeconfig"
	RecommendedConfigPathEnvVar = "KUBECONFIG"
	RecommendedHomeDir          = ".kube"
	RecommendedFileName         = "config"
	RecommendedSchemaName       = "schema"
)

// Paths in the user's home folder.
var (
	RecommendedConfigDir  = filepath.Join(homedir.HomeDir(), RecommendedHomeDir)
	RecommendedHomeFile   = filepath.Join(RecommendedConfigDir, RecommendedFileName)
	RecommendedSchemaFile = filepath.Join(RecommendedConfigDir, RecommendedSchemaName)
)

var (
	// ClusterDefaults has the server in the environment variable KUBERNETES_MASTER, or
	// http://localhost:8080.
	//
	// Deprecated: nothing should depend on a server that was not configured.
	ClusterDefaults = clientcmdapi.Cluster{Server: defaultServer()}

	// DefaultClientConfig connects to the server of ClusterDefaults.
	//
	// Deprecated: nothing should depend on a server that was not configured.
	DefaultClientConfig = DirectClientConfig{
		config:    *clientcmdapi.NewConfig(),
		overrides: &ConfigOverrides{ClusterDefaults: ClusterDefaults},
		access:    NewDefaultClientConfigLoadingRules(),
	}
)

func defaultServer() string {
	if server := os.Getenv("KUBERNETES_MASTER"); server != "" {
		return server
	}
	return "http://localhost:8080"
}
