package e2e_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/plain"
)

// The test runs the textbook pipeline, from the server to workers that record the versions they
// saw. Meanwhile it changes pods, compacts etcd, and cuts the connection.
func TestPlainPipelineReachesTheServersState(t *testing.T) {
	quiet := goleak.IgnoreCurrent()
	var network cluster.Network
	transport := &http.Transport{DialContext: network.DialContext, TLSClientConfig: &tls.Config{RootCAs: trusted(t)}}
	inf := plain.NewInformer(&plain.Client[*corev1.Pod]{
		HTTP: &http.Client{Transport: bearer{transport}}, URL: kube.URL() + cluster.PodsPath, UserAgent: "plain",
	}, plain.Options[*corev1.Pod]{})
	queue := plain.NewQueue[types.NamespacedName]()
	handler, err := inf.AddHandler(func(e plain.Event[*corev1.Pod]) { queue.Add(plain.KeyOf(e.New)) })
	require.NoError(t, err)

	var mu sync.Mutex
	reconciled := map[types.NamespacedName]string{}
	reconcile := func(_ context.Context, key types.NamespacedName) error {
		pod, exists := inf.Store.Get(key)
		mu.Lock()
		defer mu.Unlock()
		if exists {
			reconciled[key] = pod.ResourceVersion
		} else {
			delete(reconciled, key)
		}
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = inf.Run(ctx) })
	running.Go(func() { plain.Work(ctx, queue, 4, reconcile) })
	eventually(t, time.Minute, func() string {
		if !handler.Synced() {
			return "it is not synced"
		}
		return ""
	})

	pods := podChurn()
	pods.steps(t, 100)
	network.Cut()
	pods.steps(t, 100)
	_, err = kube.Compact(t.Context())
	require.NoError(t, err)
	network.Heal()
	pods.steps(t, 100)

	want, err := kube.List(t.Context(), cluster.PodsPath)
	require.NoError(t, err)
	eventually(t, time.Minute, func() string {
		stored := map[types.NamespacedName]string{}
		for _, pod := range inf.Store.List() {
			stored[plain.KeyOf(pod)] = pod.ResourceVersion
		}
		if wrong := difference(want, stored); wrong != "" {
			return "store: " + wrong
		}
		mu.Lock()
		defer mu.Unlock()
		if wrong := difference(want, reconciled); wrong != "" {
			return "workers: " + wrong
		}
		return ""
	})
	cancel()
	running.Wait()
	transport.CloseIdleConnections()
	kube.CloseIdle()
	require.NoError(t, goleak.Find(quiet))
	require.Zero(t, network.Open(), "connections")
}

func trusted(t *testing.T) *x509.CertPool {
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(kube.Config().TLS.CAData))
	return pool
}

// bearer adds the administrator's token to each request.
type bearer struct{ http.RoundTripper }

func (b bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	token, err := os.ReadFile(kube.TokenFile())
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	return b.RoundTripper.RoundTrip(request)
}
