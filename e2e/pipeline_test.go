package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// settings are the settings that differ between the pipelines of the tests.
type settings struct {
	resource schema.GroupVersionResource
	path     string // the path at which the cluster's own client lists the same objects
	encoding rest.Encoding
	mode     reflector.ListMode
	page     int64
	watch    time.Duration // the minimum timeout of a watch

	// configure changes how the client reaches the server. It may be nil.
	configure func(*rest.Config)
}

func (s settings) String() string { return fmt.Sprintf("%v/%v", s.encoding, s.mode) }

// pipeline has all parts from the network to a handler.
type pipeline[T comparable] struct {
	settings
	network  cluster.Network
	client   *rest.Client
	informer *informer.Informer[T]
	events   *eventHistory[T]
	baseline baseline
	cancel   context.CancelFunc
	ended    chan error

	mu     sync.Mutex // guards following
	errors []error    // errors that the reflector reported
}

// startPipeline starts a pipeline, whose client has the identity of the service account.
func startPipeline[T comparable](t *testing.T, s settings) *pipeline[T] {
	t.Helper()
	p := &pipeline[T]{settings: s, baseline: takeBaseline(), ended: make(chan error, 1)}
	config := kube.Config()
	config.DialContext = p.network.DialContext
	if s.configure != nil {
		s.configure(&config)
	}
	var err error
	p.client, err = rest.NewClient(config, rest.Options{})
	require.NoError(t, err)
	resource := newResource[T](p.client, s.resource, rest.ResourceOptions{
		Namespace: cluster.Namespace,
		Encoding:  s.encoding,
	})
	p.informer, err = informer.New(resource, informer.Options[T]{
		Reflector: reflector.Options{
			ListMode:     s.mode,
			PageSize:     s.page,
			WatchTimeout: s.watch,
			Backoff:      reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second},
			OnError:      p.fail,
		},
	})
	require.NoError(t, err)
	p.events = newEventHistory[T]()
	_, err = p.informer.AddHandler(p.events.handle, informer.HandlerOptions{})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	p.cancel = cancel
	go func() { p.ended <- p.informer.Run(ctx) }()
	t.Cleanup(func() {
		if t.Failed() {
			p.cancel()
		}
	})
	return p
}

func (p *pipeline[T]) waitForSync(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, p.informer.WaitForSync(ctx))
}

// requireServerState waits until store and handler have the keys and resourceVersions of the
// server's list. The server's objects must not change meanwhile.
func (p *pipeline[T]) requireServerState(t *testing.T) {
	t.Helper()
	want, err := kube.List(t.Context(), p.path)
	require.NoError(t, err)
	eventually(t, time.Minute, func() string {
		if wrong := difference(want, p.stored()); wrong != "" {
			return "store: " + wrong
		}
		if wrong := difference(want, p.events.all()); wrong != "" {
			return "handler: " + wrong
		}
		return ""
	})
	require.NoError(t, p.events.problems())
}

func (p *pipeline[T]) fail(err reflector.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, err)
}

// failures returns the errors that the reflector reported.
func (p *pipeline[T]) failures() []error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.errors)
}

// count returns the number of failures of a kind.
func (p *pipeline[T]) count(isKind func(error) bool) (n int) {
	for _, err := range p.failures() {
		if isKind(err) {
			n++
		}
	}
	return n
}

func (p *pipeline[T]) stored() map[types.NamespacedName]string {
	versions := map[types.NamespacedName]string{}
	snapshot := p.informer.Store().Snapshot()
	for key := range snapshot.Keys() {
		entry, _ := snapshot.Entry(key)
		versions[key] = entry.ResourceVersion
	}
	return versions
}

// eventually waits until problem returns "". If that does not happen in time, eventually fails the
// test with the last result of problem.
func eventually(t *testing.T, timeout time.Duration, problem func() string) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; time.Sleep(100 * time.Millisecond) {
		said := problem()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			require.Fail(t, said)
		}
	}
}

// stop ends the pipeline and checks that it leaves nothing behind.
func (p *pipeline[T]) stop(t *testing.T) {
	t.Helper()
	p.cancel()
	require.NoError(t, <-p.ended)
	p.client.Close()
	require.Zero(t, p.network.Open(), "no connection may be left")
	t.Logf("%d connections, %.1f MiB received, %+v", p.network.Dials(), mib(p.client.Stats().BytesReceived), p.informer.Status().Reflector.Stats)

	informerAlive, storeAlive, clientAlive := weak.Make(p.informer), weak.Make(p.informer.Store()), weak.Make(p.client)
	p.informer, p.client, p.events = nil, nil, nil
	// Specific objects are checked first, because their names help more than the size of the heap.
	requireCollected(t, "informer", informerAlive)
	requireCollected(t, "store", storeAlive)
	requireCollected(t, "client", clientAlive)
	p.baseline.requireNoLeaks(t)
}

// keyOf returns the key of an object.
func keyOf(obj metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// newResource makes a resource for T. It uses protobuf for built-in types.
func newResource[T any](client *rest.Client, gvr schema.GroupVersionResource, opts rest.ResourceOptions) *rest.Resource[T] {
	var resource any
	switch any(*new(T)).(type) {
	case *corev1.Pod:
		resource = rest.Must(rest.NewResource[*corev1.Pod](client, gvr, opts))
	case *corev1.ConfigMap:
		resource = rest.Must(rest.NewResource[*corev1.ConfigMap](client, gvr, opts))
	default:
		resource = rest.Must(rest.NewJSONResource[T](client, gvr, opts))
	}
	return resource.(*rest.Resource[T])
}
