package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	webv1 "github.com/kinform/kinform/e2e/project/api/v1"
)

const (
	websiteDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	projectSites       = 30
)

// The test runs the main job of a project in kubebuilder's layout, with client-go and with module
// clientgo instead. Two replicas elect a leader. The leader creates the owned objects of each
// website, repairs changes by others, and cleans up after deletions. The other replica takes over
// when the leader ends. Both programs have the same metrics.
func TestProjectOfKubebuilder(t *testing.T) {
	defineWebsites(t)
	families := map[string][]string{}
	for _, side := range []struct {
		name  string
		flags []string
	}{{"client-go", nil}, {"clientgo", []string{"-modfile=dropin.mod"}}} {
		t.Run(side.name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "manager")
			built, err := exec.Command("go", append(append([]string{"build"}, side.flags...), "-o", binary, "./project/cmd")...).CombinedOutput()
			require.NoError(t, err, string(built))
			families[side.name] = runProject(t, binary, "project-"+side.name)
		})
	}
	require.Equal(t, families["client-go"], families["clientgo"], "both programs must have the same metrics")
}

// runProject runs the main job in its own namespace, and returns the names of the leader's metrics.
func runProject(t *testing.T, binary, namespace string) (families []string) {
	ctx := t.Context()
	require.NoError(t, kube.Create(ctx, "/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": namespace}}))
	p := project{namespace: namespace}
	for i := range projectSites {
		p.create(t, i)
	}
	first := startManager(t, binary, namespace)
	first.eventuallyLeads(t)
	second := startManager(t, binary, namespace)
	p.eventuallyDeployed(t, "web:1", projectSites)
	require.Equal(t, http.StatusOK, first.probe(t, "/healthz"))
	require.Equal(t, http.StatusOK, second.probe(t, "/readyz"))
	require.Equal(t, "0", second.metric(t, `leader_election_master_status{name="website.e2e.kinform"}`))

	for i := range projectSites {
		require.NoError(t, kube.Patch(ctx, p.site(i), map[string]any{"spec": map[string]any{"image": "web:2"}}))
	}
	p.eventuallyDeployed(t, "web:2", projectSites)

	require.NoError(t, kube.Delete(ctx, p.deployment(0)))
	require.NoError(t, kube.Patch(ctx, p.deployment(1), map[string]any{"spec": map[string]any{"replicas": 7}}))
	p.eventuallyDeployed(t, "web:2", projectSites) // The leader repairs changes by others.

	families = first.families(t)
	require.Equal(t, "0", first.metric(t, `workqueue_depth{controller="website",name="website",priority="0"}`))
	first.end(t)
	second.eventuallyLeads(t)
	for i := range 10 {
		require.NoError(t, kube.Delete(ctx, p.site(i)))
	}
	eventually(t, time.Minute, func() string {
		sites, err := kube.List(ctx, p.sites())
		require.NoError(t, err)
		graves, err := kube.List(ctx, "/api/v1/namespaces/"+namespace+"/configmaps")
		require.NoError(t, err)
		deployments, err := kube.List(ctx, p.deployments())
		require.NoError(t, err)
		n := 0
		for key := range graves {
			if strings.HasSuffix(key.Name, "-was-here") {
				n++
			}
		}
		if len(sites) != projectSites-10 || n != 10 || len(deployments) != projectSites-10 {
			return fmt.Sprintf("%d websites, %d gravestones, %d deployments", len(sites), n, len(deployments))
		}
		return ""
	})
	events, err := kube.List(ctx, "/apis/events.k8s.io/v1/namespaces/"+namespace+"/events")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(events), projectSites, "each created deployment must have an event")
	second.end(t)
	return families
}

func defineWebsites(t *testing.T) {
	text, err := os.ReadFile("project/config/crd/websites.yaml")
	require.NoError(t, err)
	var definition map[string]any
	require.NoError(t, yaml.Unmarshal(text, &definition))
	require.NoError(t, kube.Create(t.Context(), websiteDefinitions, definition))
	t.Cleanup(func() {
		require.NoError(t, kube.Delete(context.Background(), websiteDefinitions+"/websites."+webv1.GroupVersion.Group))
	})
	eventually(t, time.Minute, func() string {
		if _, err := kube.Get(t.Context(), "/apis/"+webv1.GroupVersion.String()+"/websites"); err != nil {
			return err.Error()
		}
		return ""
	})
}

// project returns the paths of the manager's objects.
type project struct{ namespace string }

func (p project) sites() string {
	return "/apis/" + webv1.GroupVersion.String() + "/namespaces/" + p.namespace + "/websites"
}
func (p project) deployments() string {
	return "/apis/apps/v1/namespaces/" + p.namespace + "/deployments"
}
func (p project) site(i int) string       { return fmt.Sprintf("%s/site-%d", p.sites(), i) }
func (p project) deployment(i int) string { return fmt.Sprintf("%s/site-%d", p.deployments(), i) }

func (p project) create(t *testing.T, i int) {
	require.NoError(t, kube.Create(t.Context(), p.sites(), &webv1.Website{
		TypeMeta:   metav1.TypeMeta{APIVersion: webv1.GroupVersion.String(), Kind: "Website"},
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("site-%d", i)},
		Spec:       webv1.WebsiteSpec{Image: "web:1", Replicas: int32(i % 3)},
	}))
}

// eventuallyDeployed waits until each website has a deployment with this image, and the website's
// status reports the deployment.
func (p project) eventuallyDeployed(t *testing.T, image string, n int) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		var deployments appsv1.DeploymentList
		var sites webv1.WebsiteList
		p.read(t, p.deployments(), &deployments)
		p.read(t, p.sites(), &sites)
		if len(deployments.Items) != n {
			return fmt.Sprintf("%d deployments", len(deployments.Items))
		}
		replicas := map[string]int32{}
		for _, d := range deployments.Items {
			replicas[d.Name] = *d.Spec.Replicas
			if got := d.Spec.Template.Spec.Containers[0].Image; got != image {
				return d.Name + " has " + got
			}
			if owner := metav1.GetControllerOf(&d); owner == nil || owner.Kind != "Website" || owner.Name != d.Name {
				return d.Name + " has no owner"
			}
		}
		for _, s := range sites.Items {
			switch {
			case replicas[s.Name] != s.Spec.Replicas:
				return fmt.Sprintf("%s has %d replicas in place of %d", s.Name, replicas[s.Name], s.Spec.Replicas)
			case s.Status.ObservedGeneration != s.Generation || len(s.Status.Conditions) != 1 || s.Status.Conditions[0].Message != "runs "+image:
				return fmt.Sprintf("the status of %s is %+v", s.Name, s.Status)
			}
		}
		return ""
	})
}

func (p project) read(t *testing.T, path string, into any) {
	body, err := kube.Get(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, into))
}

// manager is the project's program, which runs as a process.
type manager struct {
	process         *exec.Cmd
	metrics, probes string // the addresses
	log             *strings.Builder
}

func startManager(t *testing.T, binary, namespace string) *manager {
	m := &manager{metrics: loopbackAddress(t), probes: loopbackAddress(t), log: &strings.Builder{}}
	m.process = exec.Command(binary, "-leader-elect", "-namespace", namespace, "-metrics-bind-address", m.metrics, "-health-probe-bind-address", m.probes)
	m.process.Env = append(os.Environ(), "KUBECONFIG="+kube.KubeconfigFile())
	m.process.Stderr = m.log
	require.NoError(t, m.process.Start())
	t.Cleanup(func() {
		if m.process.ProcessState == nil {
			_ = m.process.Process.Kill()
			_ = m.process.Wait()
		}
		if t.Failed() {
			lines := strings.Split(m.log.String(), "\n")
			t.Logf("the manager's last lines:\n%s", strings.Join(lines[max(0, len(lines)-30):], "\n"))
		}
	})
	return m
}

// end ends the manager with SIGTERM, like a kubelet.
func (m *manager) end(t *testing.T) {
	require.NoError(t, m.process.Process.Signal(syscall.SIGTERM))
	require.NoError(t, m.process.Wait(), "the manager must end without an error after SIGTERM")
}

func (m *manager) eventuallyLeads(t *testing.T) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		if got := m.metric(t, `leader_election_master_status{name="website.e2e.kinform"}`); got != "1" {
			return "the manager does not lead: " + got
		}
		return ""
	})
}

func (m *manager) probe(t *testing.T, path string) int {
	resp, err := http.Get("http://" + m.probes + path)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode
}

// page returns the page of metrics, or "" if the manager does not serve it yet.
func (m *manager) page(t *testing.T) string {
	resp, err := http.Get("http://" + m.metrics + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(body)
}

// metric returns the value of a series, or "" if the page does not have it.
func (m *manager) metric(t *testing.T, series string) string {
	for line := range strings.Lines(m.page(t)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

var metricType = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)

// families returns the names and types of all metrics.
func (m *manager) families(t *testing.T) (names []string) {
	for _, match := range metricType.FindAllStringSubmatch(m.page(t), -1) {
		names = append(names, match[1]+" "+match[2])
	}
	slices.Sort(names)
	return names
}

// loopbackAddress returns an address that is currently free.
func loopbackAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}
