package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// If a cluster's etcd is restored from a backup, the cluster has another history, and its versions
// go back. When the API server is reachable again, its versions may already have passed the
// versions that a client knows.
func TestClusterRestoredFromABackup(t *testing.T) {
	for name, c := range map[string]struct {
		advance int
		merged  bool
	}{
		"versions behind": {}, "versions passed": {advance: 5_000},
		"versions behind, merged": {merged: true}, "versions passed, merged": {5_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			useOwnCluster(t, cluster.Options{})
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			const n = 40
			maps := rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{Namespace: cluster.Namespace}))
			write := func(from, to int, data string) {
				for i := from; i < to; i++ {
					object := &corev1.ConfigMap{ObjectMeta: inTheNamespace(fmt.Sprintf("map-%02d", i)), Data: map[string]string{"data": data}}
					_, err := maps.Update(ctx, object, metav1.UpdateOptions{})
					if err != nil {
						_, err = maps.Create(ctx, object, metav1.CreateOptions{})
					}
					require.NoError(t, err)
				}
			}
			content := func(objects func(yield func(*corev1.ConfigMap))) map[string]string {
				all := map[string]string{}
				objects(func(object *corev1.ConfigMap) { all[object.Name] = object.ResourceVersion + " " + object.Data["data"] })
				return all
			}

			write(0, n/2, "first")
			require.NoError(t, kube.Backup(ctx))

			source := listwatch.Source[*corev1.ConfigMap](maps)
			if c.merged {
				source = sources.Merge(source, rest.Must(rest.For[*corev1.ConfigMap](newClient(t, kube.Config()), rest.ResourceOptions{Namespace: "kube-public"})))
			}
			inf, err := informer.New(source, informer.Options[*corev1.ConfigMap]{})
			require.NoError(t, err)
			ended := make(chan error, 1)
			running, stop := context.WithCancel(ctx)
			go func() { ended <- inf.Run(running) }()
			defer func() {
				stop()
				require.NoError(t, <-ended)
			}()
			require.NoError(t, inf.WaitForSync(ctx))
			for _, data := range []string{"second", "third"} {
				write(0, n, data)
			}
			require.Eventually(t, func() bool { return inf.Store().Len() >= n }, 30*time.Second, 10*time.Millisecond)

			require.NoError(t, kube.Restore())
			if c.advance > 0 {
				require.NoError(t, kube.Advance(ctx, c.advance))
			}
			require.NoError(t, kube.StartAPIServer(ctx))
			began := time.Now()
			write(n/4, n/2, "another history")
			stored := func() map[string]string {
				return content(func(yield func(*corev1.ConfigMap)) {
					for _, object := range inf.Store().Namespace(cluster.Namespace) {
						yield(object)
					}
				})
			}
			listed := func() map[string]string {
				items, err := maps.List(ctx, listwatch.ListOptions{})
				require.NoError(t, err)
				return content(func(yield func(*corev1.ConfigMap)) {
					defer items.Close()
					for {
						item, err := items.Next()
						if err != nil {
							return
						}
						yield(item.Object)
					}
				})
			}
			want := listed()
			require.Len(t, want, n/2)
			for ctx.Err() == nil && fmt.Sprint(stored()) != fmt.Sprint(want) {
				time.Sleep(50 * time.Millisecond)
			}
			require.Equal(t, want, stored())
			t.Logf("the store had the other history %v after the server was ready: %v", time.Since(began), inf.Status().Reflector.LastError)
			require.Less(t, time.Since(began), time.Minute)
			require.NotEqual(t, reflector.Stopped, inf.Status().Reflector.Phase)
		})
	}
}
