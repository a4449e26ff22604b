package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	clientgo "k8s.io/client-go/kubernetes"
	clientgorest "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var (
	outageRounds = flag.Int("outage.rounds", 1, "how many outages of each length there are")
	outageFor    = flag.String("outage.for", "5s", "lengths of outages, with commas between them")
)

const secretsPath = "/api/v1/namespaces/" + cluster.Namespace + "/secrets"

// TestOutage kills the API server, restarts it after a while, and writes to it as soon as it
// accepts writes. It measures the time until kinform's store has the written object, and the same
// for client-go's store. The restarted server has a new watch cache, so it refuses the watches with
// 410. The figures of docs/profiles.md come from
//
//	make -C e2e outage
//
// Without flags, the test has one short outage, and checks only kinform's time.
func TestOutage(t *testing.T) {
	var lengths []time.Duration
	for text := range strings.SplitSeq(*outageFor, ",") {
		length, err := time.ParseDuration(text)
		require.NoError(t, err)
		lengths = append(lengths, length)
	}
	measures := *outageRounds > 1
	secrets := rest.Must(rest.NewResource[*corev1.Secret](newClient(t, kube.Config()), corev1.SchemeGroupVersion.WithResource("secrets"), rest.ResourceOptions{Namespace: cluster.Namespace}))
	var mu sync.Mutex // guards following
	var errs []string
	inf, err := informer.New(secrets, informer.Options[*corev1.Secret]{Reflector: reflector.Options{OnError: func(e reflector.Error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, fmt.Sprintf("%s %v", time.Now().Format("05.000"), e))
	}}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = inf.Run(ctx) })
	stores := map[string]func(key types.NamespacedName) bool{
		"kinform": func(key types.NamespacedName) bool {
			_, ok := inf.Store().Get(key)
			return ok
		},
	}
	if measures {
		stores["client-go"] = clientGoSecrets(t, ctx, &running)
	}
	defer running.Wait()
	defer cancel()

	have := func(name string, deadline time.Duration) map[string]time.Duration {
		key := types.NamespacedName{Namespace: cluster.Namespace, Name: name}
		after := map[string]time.Duration{}
		for begin := time.Now(); len(after) < len(stores); time.Sleep(2 * time.Millisecond) {
			for who, has := range stores {
				if _, done := after[who]; !done && has(key) {
					after[who] = time.Since(begin)
				}
			}
			if time.Since(begin) > deadline {
				mu.Lock()
				defer mu.Unlock()
				require.Fail(t, "a store does not have the written object in time", "%v\n%s", after, strings.Join(errs, "\n"))
			}
		}
		return after
	}
	write := func(name string) error {
		return kube.Create(t.Context(), secretsPath, &corev1.Secret{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: inTheNamespace(name),
		})
	}
	for _, length := range lengths {
		took := map[string][]time.Duration{}
		for round := range *outageRounds {
			name := fmt.Sprintf("outage-%v-%d", length, round)
			require.NoError(t, write(name+"-before"))
			have(name+"-before", 2*time.Minute)
			mu.Lock()
			errs = nil
			mu.Unlock()
			require.NoError(t, kube.KillAPIServer())
			killed := time.Now()
			time.Sleep(length)
			var starting sync.WaitGroup
			starting.Go(func() { require.NoError(t, kube.StartAPIServer(t.Context())) })
			for write(name) != nil {
				time.Sleep(20 * time.Millisecond)
			}
			written := time.Now()
			after := have(name, 5*time.Minute)
			starting.Wait()
			for who, d := range after {
				took[who] = append(took[who], d)
			}
			mu.Lock()
			t.Logf("%v: written after %.1f s at %s, then in the stores after %v\n  %s", length, written.Sub(killed).Seconds(), written.Format("05.000"), after, strings.Join(errs, "\n  "))
			mu.Unlock()
			if !measures {
				require.Less(t, after["kinform"], length+15*time.Second)
			}
		}
		for who, all := range took {
			slices.Sort(all)
			t.Logf("%v, %d rounds, %s: median %v, from %v to %v", length, len(all), who, all[len(all)/2], all[0], all[len(all)-1])
		}
	}
}

// clientGoSecrets runs client-go's informer of the same secrets. It returns a function that reports
// whether the informer's store has a key.
func clientGoSecrets(t *testing.T, ctx context.Context, running *sync.WaitGroup) func(key types.NamespacedName) bool {
	config := kube.Config()
	client, err := clientgo.NewForConfig(&clientgorest.Config{
		Host: config.Host, BearerTokenFile: config.BearerTokenFile, TLSClientConfig: clientgorest.TLSClientConfig{CAData: config.TLS.CAData},
	})
	require.NoError(t, err)
	secrets := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "secrets", cluster.Namespace, fields.Everything())
	inf := cache.NewSharedIndexInformer(secrets, &corev1.Secret{}, 0, cache.Indexers{})
	running.Go(func() { inf.Run(ctx.Done()) })
	return func(key types.NamespacedName) bool {
		_, ok, _ := inf.GetStore().GetByKey(key.String())
		return ok
	}
}
