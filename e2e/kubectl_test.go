package e2e_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kinform/kinform/e2e/cluster"
)

// kubectl runs kubectl against one server.
type kubectl struct {
	t         *testing.T
	path      string
	env       []string
	namespace string
}

func newKubectl(t *testing.T, kubeconfig, namespace string) kubectl {
	t.Helper()
	path := os.Getenv("KINFORM_E2E_KUBECTL") // make -C e2e test builds this kubectl
	if path == "" {
		var err error
		if path, err = exec.LookPath("kubectl"); err != nil {
			t.Skip("KINFORM_E2E_KUBECTL is not set, and kubectl is not on the PATH")
		}
	}
	// kubectl caches discovery in the home directory, so each kubectl has a separate one.
	return kubectl{t, path, append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir()), namespace}
}

// try returns kubectl's output, and an error if it failed.
func (k kubectl) try(stdin string, args ...string) (string, error) {
	k.t.Helper()
	cmd := exec.CommandContext(k.t.Context(), k.path, append(args, "--namespace", k.namespace)...)
	cmd.Env, cmd.Stdin = k.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run returns kubectl's output.
func (k kubectl) run(args ...string) string {
	k.t.Helper()
	out, err := k.try("", args...)
	require.NoError(k.t, err, "kubectl %v: %s", args, out)
	return out
}

// apply applies a manifest.
func (k kubectl) apply(manifest string) string {
	k.t.Helper()
	out, err := k.try(manifest, "apply", "-f", "-")
	require.NoError(k.t, err, out)
	return out
}

// kubeconfigOf writes a kubeconfig with a client's configuration.
func kubeconfigOf(t *testing.T, config *clientrest.Config) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	c.AuthInfos["c"] = &clientcmdapi.AuthInfo{TokenFile: config.BearerTokenFile}
	c.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "c"}
	c.CurrentContext = "c"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*c, path))
	return path
}

// apiserver builds "kinform apiserver", and starts it until the test ends. It returns the server's
// kubeconfig.
func apiserver(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	binary, config := filepath.Join(dir, "kinform"), filepath.Join(dir, "kubeconfig")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = "../cmd/kinform"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command(binary, append([]string{"apiserver", "--listen", "127.0.0.1:0", "--kubeconfig-out", config}, flags...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan(), "%s", &said)
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.NoError(t, cmd.Wait())
		require.NotContains(t, said.String(), "PRIVATE KEY")
		require.NoFileExists(t, config)
	})
	return config
}

const webDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}, {name: side, image: redis}]}
`

// TestKubectlOnKinformAPIServer runs common commands of kubectl on a server that also simulates a
// cluster's controllers.
func TestKubectlOnKinformAPIServer(t *testing.T) {
	k := newKubectl(t, apiserver(t, "--tls", "--run-pods", "--garbage-collection", "--check-schemas"), "default")

	require.Equal(t, "pod/p created\n", k.run("run", "p", "--image=nginx"))
	require.Equal(t, "pod/p condition met\n", k.run("wait", "--for=condition=Ready", "pod/p", "--timeout=60s"))
	require.Regexp(t, `^NAME +READY +STATUS +RESTARTS +AGE\np +1/1 +Running +0 +\d+s\n$`, k.run("get", "pods"))
	require.Regexp(t, `NOMINATED NODE +READINESS GATES\np +1/1 +Running +0 +\d+s +10\.\S+ +apitest +<none> +<none>\n$`, k.run("get", "pods", "-o", "wide"))
	described := k.run("describe", "pod", "p")
	require.Contains(t, described, "Ready                       True")
	require.Contains(t, described, "Image:          nginx")

	for cascade, left := range map[string]bool{"background": false, "foreground": false, "orphan": true} {
		k.run("create", "configmap", "owner")
		uid := k.run("get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}")
		k.apply(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owned","ownerReferences":[
			{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"` + uid + `","blockOwnerDeletion":true}]}}`)
		require.Contains(t, k.run("delete", "configmap", "owner", "--cascade="+cascade), `configmap "owner" deleted`)
		if left {
			require.Equal(t, "", k.run("get", "configmap", "owned", "-o", "jsonpath={.metadata.ownerReferences}"))
			k.run("delete", "configmap", "owned")
		} else {
			k.run("wait", "--for=delete", "configmap/owned", "--timeout=60s")
		}
	}
	require.Contains(t, k.run("delete", "pod", "p"), `pod "p" deleted`)
}

// TestKubectlOnBothServers runs common commands of kubectl that need no controllers. It runs them
// on the real server and on kinform's server.
func TestKubectlOnBothServers(t *testing.T) {
	for _, s := range []struct{ name, kubeconfig, namespace string }{
		{"real", kubeconfigOf(t, administrator()), cluster.Namespace},
		{"kinform", apiserver(t, "--tls", "--check-schemas"), "default"},
	} {
		t.Run(s.name, func(t *testing.T) {
			k := newKubectl(t, s.kubeconfig, s.namespace)
			changeADeployment(t, k)
			explain(t, k)
			defineGadgets(t, k)
			require.Contains(t, k.run("delete", "deployment", "web"), `deployment.apps "web" deleted`)
		})
	}
}

// changeADeployment applies, scales and rolls out a deployment. The test itself writes the
// deployment's status.
func changeADeployment(t *testing.T, k kubectl) {
	require.Equal(t, "deployment.apps/web created\n", k.apply(webDeployment))
	require.Equal(t, "deployment.apps/web configured\n", k.apply(strings.ReplaceAll(webDeployment, "nginx", "nginx:2")))
	require.Equal(t, "deployment.apps/web unchanged\n", k.apply(strings.ReplaceAll(webDeployment, "nginx", "nginx:2")))
	require.Equal(t, "deployment.apps/web configured\n", k.apply(strings.ReplaceAll(webDeployment, ", {name: side, image: redis}", "")))
	require.Regexp(t, `web +0/2 +0 +0 +\d+s +web +nginx +app=web\n$`, k.run("get", "deploy", "-o", "wide"))
	require.Equal(t, "deployment.apps/web scaled\n", k.run("scale", "deployment", "web", "--replicas=3"))
	require.Regexp(t, `web +0/3 `, k.run("get", "deploy", "web"))
	out, err := k.try("", "rollout", "status", "deployment/web", "--timeout=1s")
	require.Error(t, err, "a rollout must not end without a controller of deployments")
	require.Contains(t, out, "Waiting for deployment spec update to be observed")
	generation := k.run("get", "deployment", "web", "-o", "jsonpath={.metadata.generation}")
	k.run("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p",
		`{"status":{"observedGeneration":`+generation+`,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3}}`)
	require.Equal(t, "deployment \"web\" successfully rolled out\n", k.run("rollout", "status", "deployment/web"))
}

// explain runs kubectl explain and lists the API's resources.
func explain(t *testing.T, k kubectl) {
	require.Contains(t, k.run("explain", "pod.spec.nodeName"), "FIELD: nodeName <string>")
	require.Contains(t, k.run("explain", "deployment.spec.template.spec.containers"), "Image")
	require.Contains(t, k.run("explain", "pods", "--output=plaintext-openapiv2"), "Pod is a collection of containers")
	require.Contains(t, k.run("api-resources"), "apiservices")
	require.Contains(t, k.run("get", "apiservices"), "v1.apps")
}

// defineGadgets defines a resource, and uses its schema, its columns and its scale.
func defineGadgets(t *testing.T, k kubectl) {
	k.apply(gadgets)
	k.run("wait", "--for=condition=Established", "crd/gadgets.parity.example", "--timeout=60s")
	out, err := k.try(strings.ReplaceAll(gadget, "red", "green"), "apply", "-f", "-")
	require.Error(t, err)
	require.Contains(t, out, `spec.color: Unsupported value: "green": supported values: "red", "blue"`)
	k.apply(gadget)
	require.Equal(t, "gadget.parity.example/g scaled\n", k.run("scale", "gadget", "g", "--replicas=5"))
	require.Regexp(t, `^NAME +COLOR +REPLICAS\ng +red +5\n$`, k.run("get", "gadgets"))
	require.Contains(t, k.run("explain", "gadget.spec.color"), "Which one.")
	require.Contains(t, k.run("delete", "crd", "gadgets.parity.example"), "deleted")
}

// gadgets defines a custom resource that has two versions, and gadget is an object in the older
// version.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.parity.example}
spec:
  group: parity.example
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList, shortNames: [gd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: &columns
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Ready, type: string, priority: 1, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [color]
            properties:
              color: {type: string, description: Which one., enum: [red, blue], maxLength: 4}
              replicas: {type: integer, minimum: 0, maximum: 9, default: 1}
              size: {type: integer, minimum: 0, maximum: 9}
              name: {type: string, pattern: '^[a-z]+$', minLength: 2}
              half: {type: number, multipleOf: 0.5}
              since: {type: string, format: date-time}
              port: {x-kubernetes-int-or-string: true}
              tags: {type: array, maxItems: 2, x-kubernetes-list-type: set, items: {type: string}}
              parts: {type: array, minItems: 1, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: string}, n: {type: integer, default: 7}}}}
              labels: {type: object, maxProperties: 2, additionalProperties: {type: string}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              one: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}
          status:
            type: object
            properties: {replicas: {type: integer}, conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}}
  - name: v1beta1
    served: true
    storage: false
    subresources: {status: {}}
    schema: *schema
`

const gadget = `{"apiVersion":"parity.example/v1beta1","kind":"Gadget","metadata":{"name":"g"},"spec":{"color":"red","replicas":2}}`

var (
	ages   = regexp.MustCompile(`\b\d+(s|m|m\d+s)\b`)
	spaces = regexp.MustCompile(` {2,}`)
)

// shown returns a table without the parts that depend on time and width.
func shown(table string) string {
	return spaces.ReplaceAllString(ages.ReplaceAllString(table, "AGE"), "  ")
}
