package cluster

import (
	"os"
	"path/filepath"

	"github.com/kinform/kinform/rest"
	"sigs.k8s.io/yaml"
)

// Config returns the configuration of a client with administrator permissions, with the token in
// [Cluster.TokenFile].
func (c *Cluster) Config() rest.Config {
	return rest.Config{
		Host:            c.URL(),
		TLS:             rest.TLSConfig{CAData: c.pki.caPEM},
		BearerTokenFile: c.TokenFile(),
	}
}

// KubeconfigFile is the path of a kubeconfig file for an administrator whose
// token doesn't change.
func (c *Cluster) KubeconfigFile() string { return filepath.Join(c.dir, "kubeconfig") }

func (c *Cluster) writeKubeconfig() error {
	const name = "e2e"
	content, err := yaml.Marshal(object{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": name,
		"contexts":        []object{{"name": name, "context": object{"cluster": name, "user": name, "namespace": Namespace}}},
		"clusters":        []object{{"name": name, "cluster": object{"server": c.URL(), "certificate-authority": c.pki.caFile}}},
		"users":           []object{{"name": name, "user": object{"token": adminToken}}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(c.KubeconfigFile(), content, 0o600)
}
