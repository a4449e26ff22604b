package e2e_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/kinform/kinform/e2e/cluster"
)

// seeded is the number of initial pods.
const seeded = 5000

const configMapsPath = "/api/v1/namespaces/" + cluster.Namespace + "/configmaps"

// kube is the cluster that most tests share. Its API server has no watch cache for config maps, so
// a compaction of etcd affects config maps at once.
var kube *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	begin := time.Now()
	var err error
	if kube, err = cluster.Start(ctx, cluster.Options{Uncached: []string{"configmaps"}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := kube.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}()
	ready := time.Since(begin)
	if err := kube.SeedPods(ctx, 0, seeded); err != nil {
		fmt.Fprintln(os.Stderr, "seed:", err)
		return 1
	}
	fmt.Printf("cluster ready in %.1f s, %d pods created in %.1f s\n",
		ready.Seconds(), seeded, (time.Since(begin) - ready).Seconds())
	if status = m.Run(); status != 0 {
		fmt.Fprintln(os.Stderr, kube.Logs(60))
	}
	return status
}
