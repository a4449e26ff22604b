package e2e_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/e2e/cluster"
)

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"

// One program runs twice, with client-go and with module clientgo instead, and discovers the
// server's whole API. The server of one group is down. Both runs must print the same.
func TestDiscoveryOfBothModules(t *testing.T) {
	const away = "v1.away.e2e.kinform"
	require.NoError(t, kube.Create(t.Context(), apiServices, map[string]any{
		"metadata": map[string]any{"name": away},
		"spec": map[string]any{"group": "away.e2e.kinform", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, "insecureSkipTLSVerify": true,
			"service": map[string]any{"name": "away", "namespace": cluster.Namespace}},
	}))
	t.Cleanup(func() { require.NoError(t, kube.Delete(context.Background(), apiServices+"/"+away)) })
	deployments := "/apis/apps/v1/namespaces/" + cluster.Namespace + "/deployments"
	labels := map[string]any{"app": "scaled"}
	require.NoError(t, kube.Create(t.Context(), deployments, map[string]any{
		"metadata": map[string]any{"name": "scaled"},
		"spec": map[string]any{"replicas": 3, "selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "c"}}}}},
	}))
	t.Cleanup(func() { require.NoError(t, kube.Delete(context.Background(), deployments+"/scaled")) })

	ask := map[string]func() string{}
	for name, flags := range map[string][]string{"client-go": nil, "clientgo": {"-modfile=dropin.mod"}} {
		binary := filepath.Join(t.TempDir(), name)
		built, err := exec.Command("go", append(append([]string{"build"}, flags...), "-o", binary, "./discoverall")...).CombinedOutput()
		require.NoError(t, err, string(built))
		ask[name] = func() string {
			command := exec.Command(binary, "-server", kube.URL(), "-ca", kube.CAFile(), "-token", kube.TokenFile(), "-namespace", cluster.Namespace, "-directory", t.TempDir())
			var log strings.Builder
			command.Stderr = &log
			out, err := command.Output()
			require.NoError(t, err, log.String())
			return string(out)
		}
	}
	// The server updates its discovery some time after an APIService changes. Therefore both
	// programs run until they agree and report the group as unavailable.
	eventually(t, time.Minute, func() string {
		theirs, ours := ask["client-go"](), ask["clientgo"]()
		if !strings.Contains(ours, "stale GroupVersion discovery: away.e2e.kinform/v1") {
			return "the group is not away yet"
		}
		difference := differenceOf(strings.Split(theirs, "\n"), strings.Split(ours, "\n"))
		if difference == "" {
			t.Logf("%d lines are equal", strings.Count(ours, "\n"))
		}
		return difference
	})
}

// differenceOf returns the first lines in which the two texts differ.
func differenceOf(theirs, ours []string) string {
	for i, line := range ours {
		if i >= len(theirs) || theirs[i] != line {
			return "client-go: " + strings.Join(theirs[min(i, len(theirs)):min(i+1, len(theirs))], "") + "\nclientgo:  " + line
		}
	}
	if len(theirs) > len(ours) {
		return "client-go: " + theirs[len(ours)]
	}
	return ""
}
