package apitest_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
)

// TestPodsHaveARealisticSize: in real clusters, pods with one or two containers have these sizes,
// including managed fields.
func TestPodsHaveARealisticSize(t *testing.T) {
	t.Parallel()
	var jsonSize, protoSize, fields, n int
	for p := range apitest.Pods(400, apitest.PodOptions{Namespaces: 4}) {
		text, err := json.Marshal(p)
		require.NoError(t, err)
		proto, err := p.Marshal()
		require.NoError(t, err)
		jsonSize += len(text)
		protoSize += len(proto)
		require.Equal(t, []string{"ns-0", "ns-1", "ns-2", "ns-3"}[n%4], p.Namespace)
		require.Len(t, p.ManagedFields, 2)
		for _, m := range p.ManagedFields {
			require.True(t, json.Valid(m.FieldsV1.GetRawBytes()))
			fields += len(m.FieldsV1.GetRawBytes())
		}
		n++
	}
	require.Equal(t, 400, n)
	t.Logf("%d bytes in JSON, %d in protobuf, of which %d are managed fields", jsonSize/n, protoSize/n, fields/n)
	require.InDelta(t, 10_000, jsonSize/n, 500)
	require.InDelta(t, 6_900, protoSize/n, 400)
	require.InDelta(t, 3_900, fields/n, 300)
}

// The texts that the next test expects. They are compiled once, because some are matched thousands
// of times.
var (
	tokenName   = regexp.MustCompile("^kube-api-access-[a-z0-9]{5}$")
	containerID = regexp.MustCompile("^containerd://[0-9a-f]{64}$")
	imageDigest = regexp.MustCompile("^@sha256:[0-9a-f]{64}$")
)

func TestPodsOfAWorkloadShareItsTemplate(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "checks 2,000 pods")
	// templates holds the common part of the pods of each workload, by the workload's UID
	templates := map[types.UID]string{}
	kinds := map[string]int{}
	sizes := map[types.UID]int{}
	distinct := map[string]map[string]bool{}
	own := func(what, value string) {
		if distinct[what] == nil {
			distinct[what] = map[string]bool{}
		}
		distinct[what][value] = true
	}
	const n = 2000
	for p := range apitest.Pods(n, apitest.PodOptions{Namespaces: 2}) {
		require.Len(t, p.OwnerReferences, 1)
		owner := p.OwnerReferences[0]
		require.True(t, *owner.Controller && *owner.BlockOwnerDeletion)
		require.Equal(t, owner.Name+"-", p.GenerateName)
		require.Contains(t, p.ManagedFields[0].FieldsV1.String(), owner.UID)
		if owner.Kind == "ReplicaSet" {
			require.Contains(t, owner.Name, p.Labels["pod-template-hash"])
		}
		sizes[owner.UID]++
		if sizes[owner.UID] == 1 {
			kinds[owner.Kind]++
		}

		// Each pod has its own token volume, which every container mounts.
		token := p.Spec.Volumes[len(p.Spec.Volumes)-1]
		require.Regexp(t, tokenName, token.Name)
		require.Len(t, token.Projected.Sources, 3)
		require.Equal(t, "token", token.Projected.Sources[0].ServiceAccountToken.Path)
		require.Equal(t, "kube-root-ca.crt", token.Projected.Sources[1].ConfigMap.Name)
		require.Equal(t, "namespace", token.Projected.Sources[2].DownwardAPI.Items[0].Path)
		require.Len(t, p.Status.ContainerStatuses, len(p.Spec.Containers))
		for i, c := range p.Spec.Containers {
			require.Equal(t, token.Name, c.VolumeMounts[len(c.VolumeMounts)-1].Name)
			status := p.Status.ContainerStatuses[i]
			require.Len(t, status.VolumeMounts, len(c.VolumeMounts))
			require.Equal(t, c.Resources, *status.Resources)
			require.Regexp(t, containerID, status.ContainerID)
			digest, ok := strings.CutPrefix(status.ImageID, c.Image)
			require.True(t, ok, status.ImageID)
			require.Regexp(t, imageDigest, digest)
			own("containerID", status.ContainerID)
		}
		require.NotEmpty(t, p.Spec.Tolerations)
		require.Equal(t, p.Status.PodIP, p.Status.PodIPs[0].IP)
		require.Contains(t, p.ManagedFields[1].FieldsV1.String(), `"k:{\"ip\":\"`+p.Status.PodIP+`\"}"`)

		own("token", token.Name)
		own("ip", p.Status.PodIP)
		own("times", fmt.Sprint(p.ManagedFields[0].Time, p.ManagedFields[1].Time, p.Status.Conditions, p.Status.ContainerStatuses[0].State))

		// Everything else is equal within the workload.
		common := p.DeepCopy()
		common.Name, common.ManagedFields = "", common.ManagedFields[:1]
		common.ManagedFields[0].Time = nil
		common.Spec.NodeName = ""
		common.Spec.Volumes = common.Spec.Volumes[:len(common.Spec.Volumes)-1]
		images := ""
		for i := range common.Spec.Containers {
			c := &common.Spec.Containers[i]
			c.VolumeMounts = c.VolumeMounts[:len(c.VolumeMounts)-1]
			images += common.Status.ContainerStatuses[i].ImageID
		}
		if owner.Kind == "StatefulSet" { // The names of its pods also come from the workload.
			delete(common.Labels, "statefulset.kubernetes.io/pod-name")
			delete(common.Labels, "apps.kubernetes.io/pod-index")
			require.Equal(t, "data-"+p.Name, common.Spec.Volumes[1].PersistentVolumeClaim.ClaimName)
			common.Spec.Hostname, common.Spec.Volumes = "", nil
		}
		common.Status = corev1.PodStatus{}
		text, err := json.Marshal(common)
		require.NoError(t, err)
		if templates[owner.UID] == "" {
			templates[owner.UID] = string(text) + images
		}
		require.Equal(t, templates[owner.UID], string(text)+images)
	}
	require.Len(t, distinct["ip"], n)
	require.Greater(t, len(distinct["containerID"]), n)
	require.Greater(t, len(distinct["token"]), n*99/100)
	require.Greater(t, len(distinct["times"]), n*99/100)

	require.Equal(t, map[string]int{"ReplicaSet": 200, "StatefulSet": 60, "DaemonSet": 40, "Job": 60}, kinds)
	different := map[string]bool{}
	for _, text := range templates {
		different[text] = true
	}
	require.Len(t, different, 360)
	least, greatest := n, 0
	for _, size := range sizes {
		least, greatest = min(least, size), max(greatest, size)
	}
	require.Equal(t, 1, least)
	require.Equal(t, 30, greatest)
}

// TestRestartContainerChangesOnlyTheStatus: a restart is the most frequent update of
// pods.
func TestRestartContainerChangesOnlyTheStatus(t *testing.T) {
	t.Parallel()
	for p := range apitest.Pods(20, apitest.PodOptions{}) {
		before, again := p.DeepCopy(), p.DeepCopy()
		apitest.RestartContainer(p)
		apitest.RestartContainer(again)
		require.Equal(t, p, again)
		status := p.Status.ContainerStatuses[0]
		require.EqualValues(t, 1, status.RestartCount)
		require.NotEqual(t, before.Status.ContainerStatuses[0].ContainerID, status.ContainerID)
		require.Equal(t, before.Status.ContainerStatuses[0].ContainerID, status.LastTerminationState.Terminated.ContainerID)
		require.NotEqual(t, before.Status.Conditions, p.Status.Conditions)
		require.NotEqual(t, before.ManagedFields[1].Time, p.ManagedFields[1].Time)
		apitest.RestartContainer(again)
		require.NotEqual(t, p.Status, again.Status)

		p.Status, p.ManagedFields[1].Time = before.Status, before.ManagedFields[1].Time
		require.Equal(t, before, p, "nothing else must change")
	}
	apitest.RestartContainer(&corev1.Pod{}) // a pod without containers
}

func TestPodsDependOnTheSeed(t *testing.T) {
	t.Parallel()
	all := func(seed uint64) (pods []*corev1.Pod) {
		for p := range apitest.Pods(5, apitest.PodOptions{Seed: seed}) {
			pods = append(pods, p)
		}
		return pods
	}
	require.Equal(t, all(1), all(1))
	require.NotEqual(t, all(1), all(2))
	for range apitest.Pods(5, apitest.PodOptions{}) {
		break // the receiver may end the iteration early
	}
}

func TestChurnKeepsItsRate(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "measures a rate for some seconds")
	run := func(opts apitest.ChurnOptions) (list []apitest.Object, took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			srv := apitest.New(apitest.Options{})
			require.NoError(t, apitest.Populate(srv, apitest.Pods(20, apitest.PodOptions{})))
			begin := time.Now()
			n, err := srv.Churn(t.Context(), opts)
			took = time.Since(begin)
			require.NoError(t, err)
			require.Equal(t, opts.Writes, n)
			list, _, err = srv.List(pods, "")
			require.NoError(t, err)
			srv.Close()
		})
		return list, took
	}
	list, took := run(apitest.ChurnOptions{PerSecond: 50, Writes: 1000, Seed: 7})
	require.InDelta(t, 20*time.Second, took, float64(time.Second))
	require.NotEmpty(t, list)
	again, _ := run(apitest.ChurnOptions{PerSecond: 50, Writes: 1000, Seed: 7})
	require.Equal(t, list, again)

	srv := apitest.New(apitest.Options{})
	_, err := srv.Churn(t.Context(), apitest.ChurnOptions{PerSecond: -1})
	require.Error(t, err)
	require.NoError(t, apitest.Populate(srv, apitest.Pods(1, apitest.PodOptions{})))
	require.Error(t, apitest.Populate(srv, apitest.Pods(1, apitest.PodOptions{})))
}
