package kubeconfig

import (
	"os"
	"strings"

	"github.com/kinform/kinform/rest"
)

// defaultNamespace is used if a context has no namespace.
const defaultNamespace = "default"

// namespaceFile is the file with a pod's namespace. The kubelet writes it.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// inCluster returns the connection of a pod's service account.
func inCluster() (Connection, error) {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return Connection{}, err
	}
	return Connection{Config: cfg, Namespace: podNamespace(namespaceFile)}, nil
}

// podNamespace returns the value of the variable POD_NAMESPACE, which a pod can get from the
// downward API. Without the variable, it returns the content of file, which the kubelet writes.
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
