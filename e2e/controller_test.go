package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/rest"
)

const (
	// websiteController is the name of the user, and of the role in website.yaml.
	websiteController   = "website-controller"
	websiteDefinition   = "websites.example.com"
	controllersFolder   = "../examples/controller"
	controllersPatience = time.Minute
)

// example runs examples/controller as a process that has only the permissions of its website.yaml.
// Its client has all permissions.
type example struct {
	t           *testing.T
	binary      string
	kubeconfig  string
	zone        string
	sites       *rest.Resource[*unstructured.Unstructured]
	deployments *rest.Resource[*appsv1.Deployment]
}

func installExample(t *testing.T) *example {
	dir := t.TempDir()
	x := &example{t: t, binary: filepath.Join(dir, "controller"), kubeconfig: filepath.Join(dir, "kubeconfig"), zone: t.TempDir()}
	buildExample(t, "controller", x.binary)
	writeKubeconfigOf(t, websiteController, x.kubeconfig)
	installManifest(t, filepath.Join(controllersFolder, "website.yaml"), websiteDefinition, websiteController)
	client := newClient(t, kube.Config())
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "websites"}
	x.sites = rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, gvr, rest.ResourceOptions{Namespace: cluster.Namespace}))
	x.deployments = rest.Must(rest.For[*appsv1.Deployment](client, rest.ResourceOptions{Namespace: cluster.Namespace}))
	return x
}

// start runs the controller. Like a cluster, stop ends the controller with SIGTERM. stop returns
// the controller's output.
func (x *example) start() (stop func() string) {
	var output bytes.Buffer
	process := exec.Command(x.binary, "-zone", x.zone)
	process.Env = append(os.Environ(), "KUBECONFIG="+x.kubeconfig)
	process.Stdout, process.Stderr = &output, &output
	require.NoError(x.t, process.Start())
	end := sync.OnceValue(process.Wait)
	x.t.Cleanup(func() {
		_ = process.Process.Kill() // It has exited already, unless the test has failed.
		if _ = end(); x.t.Failed() {
			x.t.Logf("output of the controller: %s", &output)
		}
	})
	return func() string {
		require.NoError(x.t, process.Process.Signal(syscall.SIGTERM))
		require.NoError(x.t, end(), &output)
		return output.String()
	}
}

// create creates a website. It retries until the server accepts websites.
func (x *example) create(name, host string) (site *unstructured.Unstructured) {
	x.t.Helper()
	eventually(x.t, controllersPatience, func() (wrong string) {
		var err error
		site, err = x.sites.Create(x.t.Context(), &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Website",
			"metadata": map[string]any{"name": name},
			"spec":     map[string]any{"host": host, "image": "example.com/shop:1"},
		}}, metav1.CreateOptions{})
		if err != nil {
			wrong = err.Error()
		}
		return wrong
	})
	return site
}

func (x *example) patch(key types.NamespacedName, patch string) {
	x.t.Helper()
	_, err := x.sites.Patch(x.t.Context(), key, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(x.t, err)
}

// statusOf returns the status of a website in one line, without times.
func statusOf(site *unstructured.Unstructured) string {
	generation, _, _ := unstructured.NestedInt64(site.Object, "status", "observedGeneration")
	ready, _, _ := unstructured.NestedInt64(site.Object, "status", "readyReplicas")
	line := fmt.Sprintf("generation %d, %d ready", generation, ready)
	conditions, _, _ := unstructured.NestedSlice(site.Object, "status", "conditions")
	for _, c := range conditions {
		condition := c.(map[string]any)
		line += fmt.Sprintf(", %s=%s %s", condition["type"], condition["status"], condition["reason"])
	}
	return line
}

// status waits until the controller has reported the wanted status.
func (x *example) status(key types.NamespacedName, want string) *unstructured.Unstructured {
	x.t.Helper()
	var site *unstructured.Unstructured
	eventually(x.t, controllersPatience, func() string {
		var err error
		if site, err = x.sites.Get(x.t.Context(), key, metav1.GetOptions{}); err != nil {
			return err.Error()
		}
		if status := statusOf(site); status != want {
			return fmt.Sprintf("the status of %s is %s, and not %s", key, status, want)
		}
		return ""
	})
	return site
}

func (x *example) deployment(key types.NamespacedName) *appsv1.Deployment {
	x.t.Helper()
	deployment, err := x.deployments.Get(x.t.Context(), key, metav1.GetOptions{})
	require.NoError(x.t, err)
	return deployment
}

// events returns the events about a website, as the server has validated and stored them.
func (x *example) events(about *unstructured.Unstructured) (found []string) {
	x.t.Helper()
	var list eventsv1.EventList
	data, err := kube.Get(x.t.Context(), "/apis/events.k8s.io/v1/namespaces/"+cluster.Namespace+"/events")
	require.NoError(x.t, err)
	require.NoError(x.t, json.Unmarshal(data, &list))
	for _, event := range list.Items {
		if event.Regarding.UID == about.GetUID() {
			found = append(found, event.Type+" "+event.Reason+" "+event.ReportingController)
		}
	}
	return found
}

func (x *example) requireRecord(key types.NamespacedName, host string) {
	x.t.Helper()
	record, err := os.ReadFile(filepath.Join(x.zone, key.Namespace+"_"+key.Name))
	require.NoError(x.t, err)
	require.Equal(x.t, host, string(record))
}

func TestExampleControllerOnARealServer(t *testing.T) {
	x := installExample(t)
	stop := x.start()
	shop := keyOf(x.create("shop", "shop.example"))

	made := x.status(shop, "generation 1, 0 ready, Ready=False Progressing")
	require.Equal(t, []string{"example.com/dns-record"}, made.GetFinalizers())
	eventually(t, controllersPatience, func() string {
		// The controller sends events concurrently with reconciles.
		if recorded := x.events(made); !slices.Equal(recorded, []string{"Normal Deployed example.com/websites"}) {
			return fmt.Sprintf("the events are %q", recorded)
		}
		return ""
	})
	x.requireRecord(shop, "shop.example")
	first := x.deployment(shop)
	// No garbage collector runs here.
	t.Cleanup(func() { require.NoError(t, x.deployments.Delete(context.Background(), shop, metav1.DeleteOptions{})) })
	require.Equal(t, *metav1.NewControllerRef(made, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Website"}), first.OwnerReferences[0])
	require.EqualValues(t, 1, *first.Spec.Replicas, "the server must set the default of the CustomResourceDefinition")

	ready := first.DeepCopy()
	ready.Status.Replicas, ready.Status.ReadyReplicas = 1, 1
	_, err := x.deployments.UpdateStatus(t.Context(), ready, metav1.UpdateOptions{})
	require.NoError(t, err)
	x.status(shop, "generation 1, 1 ready, Ready=True Available")
	require.EqualValues(t, first.Generation, x.deployment(shop).Generation, "the controller must keep the fields that the server has set")

	require.NoError(t, x.deployments.Delete(t.Context(), shop, metav1.DeleteOptions{}))
	x.status(shop, "generation 1, 0 ready, Ready=False Progressing")
	again := x.deployment(shop)
	require.NotEqual(t, first.UID, again.UID, "the controller must recreate a deleted deployment")

	x.patch(shop, `{"spec":{"image":"example.com/shop:2","replicas":3,"host":"new.example"}}`)
	x.status(shop, "generation 2, 0 ready, Ready=False Progressing")
	x.requireRecord(shop, "new.example")
	changed := x.deployment(shop)
	require.Equal(t, again.UID, changed.UID)
	require.EqualValues(t, 3, *changed.Spec.Replicas)
	require.Equal(t, "example.com/shop:2", changed.Spec.Template.Spec.Containers[0].Image)

	t.Log("an invalid spec, and a change while the controller does not run")
	x.patch(shop, `{"spec":{"host":"no host!"}}`)
	eventually(t, controllersPatience, func() string {
		if recorded := x.events(made); !strings.Contains(strings.Join(recorded, ", "), "Warning InvalidSpec") {
			return fmt.Sprintf("no warning: %q", recorded)
		}
		return ""
	})
	said := stop()
	require.Equal(t, 1, strings.Count(said, "reconcile failed"), said)
	require.Contains(t, said, `dropped: spec.host \"no host!\"`)
	x.patch(shop, `{"spec":{"host":"late.example"}}`)
	stop = x.start()
	x.status(shop, "generation 4, 0 ready, Ready=False Progressing")
	x.requireRecord(shop, "late.example")

	require.NoError(t, x.sites.Delete(t.Context(), shop, metav1.DeleteOptions{}))
	eventually(t, controllersPatience, func() string {
		if _, err := x.sites.Get(t.Context(), shop, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the website is not gone: %v", err)
		}
		return ""
	})
	left, err := os.ReadDir(x.zone)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NotContains(t, stop(), "ERROR")
}
