package kubeconfig

import (
	"os"
	"strings"

	"github.com/kinform/kinform/rest"
)

// defaultNamespace is where a context works that names no namespace.
const defaultNamespace = "default"

// namespaceFile is where a kubelet tells a pod its namespace.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// inCluster is the connection of a pod's service account.
func inCluster() (Connection, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return Connection{}, err
	}
	return Connection{Config: cfg, Namespace: podNamespace(namespaceFile)}, nil
}

// podNamespace is what the variable POD_NAMESPACE says, which a pod may set for
// itself through the downward API, else the kubelet's file.
func podNamespace(file string) string {
	if ns := os.Getenv("POD_NAMESPACE"); ns != "" {
		return ns
	}
	if data, err := os.ReadFile(file); err == nil {
		if ns := strings.TrimSpace(string(data)); ns != "" {
			return ns
		}
	}
	return defaultNamespace
}
