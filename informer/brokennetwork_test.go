package informer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/tcpproxy"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// manyPods is the number of pod keys behind a broken network.
const manyPods = 30

// sentPods remembers every state that a pod on the server ever had.
type sentPods struct {
	server *apitest.Server
	random *rand.Rand
	states map[string]*corev1.Pod // by resourceVersion
}

// change creates, updates or deletes one of the pods.
func (s *sentPods) change(t *testing.T) {
	k := key(s.random.IntN(manyPods))
	obj, err := s.server.Get(pods, k)
	switch {
	case err != nil:
		obj, err = s.server.Create(newPod(k))
	case s.random.IntN(5) == 0:
		err = s.server.Delete(pods, k)
	default:
		s.update(t, obj.(*corev1.Pod))
		return
	}
	s.sent(t, obj, err)
}

func (s *sentPods) update(t *testing.T, pod *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, "changed", fmt.Sprint(s.random.Uint64()))
	obj, err := s.server.Update(pod)
	s.sent(t, obj, err)
}

func (s *sentPods) sent(t *testing.T, obj apitest.Object, err error) {
	require.NoError(t, err)
	pod := obj.(*corev1.Pod)
	pod.TypeMeta = metav1.TypeMeta{}
	s.states[pod.ResourceVersion] = pod
}

// receivedPods is a handler that remembers every state it received.
type receivedPods struct {
	mu   sync.Mutex // guards following
	pods []*corev1.Pod
}

func (r *receivedPods) handle(e informer.Event[*corev1.Pod]) {
	if e.Type != informer.Deleted {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pods = append(r.pods, e.New)
	}
}

// brokenNetwork is a server, an informer, and a proxy in between that breaks the
// first connections.
type brokenNetwork struct {
	mode    reflector.ListMode
	format  format
	secure  bool // TLS, and with it HTTP/2
	kind    tcpproxy.Kind
	faulty  int // number of faulty connections
	within  int // the fault happens within this number of bytes
	pause   time.Duration
	options apitest.Options
	config  rest.Config
	retry   reflector.Options
}

// format is the encoding of objects, and whether equal parts are shared.
type format struct {
	encoding rest.Encoding
	shared   bool
}

func (f format) String() string {
	if f.shared {
		return f.encoding.String() + ", shared"
	}
	return f.encoding.String()
}

// reach makes the server reachable through the proxy.
type reach func(*testing.T, *apitest.Server, *tcpproxy.Proxy) rest.Config

// inMemory reaches the server over an in-memory network.
func inMemory(t *testing.T, server *apitest.Server, proxy *tcpproxy.Proxy) rest.Config {
	require.NoError(t, server.ListenMemory())
	return rest.Config{Host: server.URL(), DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return proxy.DialContext(ctx, "memory", address)
	}}
}

// overTCP reaches the server over loopback.
func overTCP(t *testing.T, server *apitest.Server, proxy *tcpproxy.Proxy) rest.Config {
	require.NoError(t, server.Listen("127.0.0.1:0"))
	address, err := proxy.Listen()
	require.NoError(t, err)
	scheme, _, _ := strings.Cut(server.URL(), "://")
	return rest.Config{Host: scheme + "://" + address}
}

// brokenRig is a brokenNetwork at work.
type brokenRig struct {
	brokenNetwork
	server   *apitest.Server
	proxy    *tcpproxy.Proxy
	sent     *sentPods
	informer *informer.Informer[*corev1.Pod]
	handler  *informer.Registration[*corev1.Pod]
	received *receivedPods
	stop     func() // returns when the informer has ended
}

// start starts everything. The caller must call the function end.
func (n brokenNetwork) start(t *testing.T, reach reach) (rig *brokenRig, end func()) {
	n.options.TLS = n.secure
	server := apitest.New(n.options)
	random := rand.New(rand.NewPCG(uint64(n.kind), uint64(n.mode)))
	rig = &brokenRig{
		brokenNetwork: n, server: server, received: &receivedPods{},
		sent: &sentPods{server: server, random: random, states: map[string]*corev1.Pod{}},
	}
	for range 2 * manyPods {
		rig.sent.change(t)
	}
	rig.proxy = tcpproxy.New(rig.dial, rig.faults())
	config := reach(t, server, rig.proxy)
	config.HeaderTimeout = n.config.HeaderTimeout
	config.TLS.CAData = server.CA()
	client, err := rest.NewClient(config, rest.Options{})
	require.NoError(t, err)

	which := rest.ResourceOptions{Encoding: n.format.encoding, Unshared: !n.format.shared}
	n.retry.ListMode = n.mode
	rig.informer, err = informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, which)), informer.Options[*corev1.Pod]{Reflector: n.retry})
	require.NoError(t, err)
	rig.handler, err = rig.informer.AddHandler(rig.received.handle, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { require.NoError(t, rig.informer.Run(ctx)) })
	rig.stop = func() {
		cancel()
		running.Wait()
	}
	return rig, func() {
		rig.stop()
		client.Close()
		rig.proxy.Close()
		server.Close()
	}
}

// dial connects the proxy to the server.
func (r *brokenRig) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if network == "memory" {
		return r.server.DialContext(ctx, network, "")
	}
	_, address, _ := strings.Cut(r.server.URL(), "://")
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// faults returns the faults of the first connections.
func (n brokenNetwork) faults() func(int) tcpproxy.Fault {
	var mu sync.Mutex // guards random
	random := rand.New(rand.NewPCG(7, uint64(n.kind)))
	return func(i int) tcpproxy.Fault {
		mu.Lock()
		defer mu.Unlock()
		if i >= n.faulty {
			return tcpproxy.Fault{}
		}
		return tcpproxy.Fault{Kind: n.kind, After: random.IntN(n.within), Pause: n.pause, Bit: uint8(random.IntN(8))}
	}
}

// breakAll changes pods until every faulty connection has ended. It calls the function each after
// every change.
func (r *brokenRig) breakAll(t *testing.T, patience time.Duration, each func(change int)) {
	deadline := time.Now().Add(patience)
	for change := 0; r.proxy.Connections() <= r.faulty && r.kind != tcpproxy.Trickle; change++ {
		if !time.Now().Before(deadline) {
			t.Logf("%s %+v watches=%d server=%s", time.Now().Format(time.TimeOnly), r.informer.Status(), r.server.Watches(""), r.server.ResourceVersion())
		}
		require.True(t, time.Now().Before(deadline), "%d of %d faulty connections were not opened in time", r.faulty+1-r.proxy.Connections(), r.faulty)
		r.sent.change(t)
		each(change)
		// Time is virtual, except in TestBrokenTCP.
		time.Sleep(time.Duration(r.sent.random.Int64N(int64(patience / 2000))))
	}
}

// settle waits until the store equals the server.
func (r *brokenRig) settle(t *testing.T, limit time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	require.NoError(t, r.informer.Store().WaitRV(ctx, r.server.ResourceVersion()), "the store must have caught up within the limit")
}

// wrong describes how the store differs from the server, or returns "".
func (r *brokenRig) wrong(t *testing.T) string {
	objects, _, err := r.server.List(pods, "")
	require.NoError(t, err)
	if have := r.informer.Store().Len(); have != len(objects) {
		return fmt.Sprintf("%d pods instead of %d", have, len(objects))
	}
	for entry := range r.informer.Store().Snapshot().Entries() {
		obj, err := r.server.Get(pods, entry.Key)
		if err != nil || obj.GetResourceVersion() != entry.ResourceVersion {
			return fmt.Sprintf("%v has version %s: %v", entry.Key, entry.ResourceVersion, err)
		}
		if !equality.Semantic.DeepEqual(r.sent.states[entry.ResourceVersion], entry.Object) {
			return fmt.Sprintf("%v %s was never sent like this: %v", entry.Key, entry.ResourceVersion, entry.Object)
		}
	}
	return ""
}
