package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

const (
	rolesPath        = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
	roleBindingsPath = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	definitionsPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
)

// buildExample builds a program of the directory examples.
func buildExample(t *testing.T, name, binary string) {
	t.Helper()
	built, err := exec.Command("go", "build", "-o", binary, "github.com/kinform/kinform/examples/"+name).CombinedOutput()
	require.NoError(t, err, string(built))
}

// writeKubeconfigOf writes a kubeconfig for a user who has only the permissions of the role with
// the user's name.
func writeKubeconfigOf(t *testing.T, user, file string) {
	t.Helper()
	config := kube.Config()
	config.Impersonate = rest.Impersonation{User: user}
	require.NoError(t, kubeconfig.Write(file, kubeconfig.Connection{Config: config}))
}

// installManifest creates the CustomResourceDefinition and the role of a manifest, and binds the
// role to the user of the same name. It deletes all of them when the test ends.
func installManifest(t *testing.T, file, definitionName, role string) {
	t.Helper()
	manifest, err := os.ReadFile(file)
	require.NoError(t, err)
	definition, rights, found := bytes.Cut(manifest, []byte("\n---\n"))
	require.True(t, found)
	install(t, definitionsPath, definitionName, definition)
	install(t, rolesPath, role, rights)
	install(t, roleBindingsPath, role, fmt.Appendf(nil, `
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: %[1]s}]`, role))
}

// install creates an object, and deletes it when the test ends.
func install(t *testing.T, path, name string, document []byte) {
	t.Helper()
	var object map[string]any
	require.NoError(t, yaml.Unmarshal(document, &object))
	require.NoError(t, kube.Create(t.Context(), path, object))
	t.Cleanup(func() { require.NoError(t, kube.Delete(context.Background(), path+"/"+name)) })
}
