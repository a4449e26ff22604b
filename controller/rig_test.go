package controller_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

type (
	key       = types.NamespacedName
	configMap = corev1.ConfigMap
)

// rig is a server, a client, and a manager, in a synctest bubble. HTTP is real, the network is in
// memory, and time is virtual.
type rig struct {
	t       *testing.T
	server  *apitest.Server
	client  *rest.Client
	manager *controller.Manager
	maps    *rest.Resource[*configMap] // the user's own access to the server
	stop    func() error               // ends the manager, and returns the result of Run

	mu       sync.Mutex // guards following
	log      bytes.Buffer
	requests map[string]int // number of requests by verb and resource
}

// play runs a test in a bubble, with a manager that does not run yet.
func play(t *testing.T, opts controller.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, requests: map[string]int{}}
		r.server = apitest.New(apitest.Options{OnRequest: r.count})
		require.NoError(t, r.server.ListenMemory())
		defer r.server.Close()
		r.client = r.connect()
		defer r.client.Close()
		r.maps = rest.Must(rest.For[*configMap](r.client, rest.ResourceOptions{}))
		opts.Logger = slog.New(slog.NewTextHandler(r, nil))
		var err error
		r.manager, err = controller.New(r.client, opts)
		require.NoError(t, err)
		r.stop = func() error { return nil }
		// also after a failure, because a bubble waits for its goroutines
		defer func() { require.NoError(t, r.stop()) }()
		test(t, r)
	})
}

func (r *rig) connect() *rest.Client {
	client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{})
	require.NoError(r.t, err)
	return client
}

// run starts the manager. If the test does not stop it, play does.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.manager.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
}

// waitIdle waits until every goroutine is idle, including retries.
func (r *rig) waitIdle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func (r *rig) count(q apitest.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[strings.TrimSuffix(q.Verb+" "+q.Resource+"/"+q.Subresource, "/")]++
}

func (r *rig) requestCount(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[what]
}

// Write receives the log.
func (r *rig) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

func newMap(name string, data ...string) *configMap {
	m := &configMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}, Data: map[string]string{}}
	for i := 0; i < len(data); i += 2 {
		m.Data[data[i]] = data[i+1]
	}
	return m
}

func (r *rig) create(m *configMap) *configMap {
	r.t.Helper()
	made, err := r.maps.Create(r.t.Context(), m, metav1.CreateOptions{})
	require.NoError(r.t, err)
	return made
}

func (r *rig) get(name string) *configMap {
	r.t.Helper()
	m, err := r.maps.Get(r.t.Context(), key{Namespace: "web", Name: name}, metav1.GetOptions{})
	require.NoError(r.t, err)
	return m
}

// newServer is another cluster on the in-memory network.
func newServer(t *testing.T) *apitest.Server {
	server := apitest.New(apitest.Options{})
	require.NoError(t, server.ListenMemory())
	return server
}
