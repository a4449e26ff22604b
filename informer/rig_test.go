package informer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// rig is a server and an informer on its pods, joined by HTTP over an in-memory
// connection. It is made inside a synctest bubble, so its time is virtual.
type rig struct {
	t        *testing.T
	server   *apitest.Server
	informer *informer.Informer[*corev1.Pod]
	random   *rand.Rand

	// stop ends the informer and returns when Run has returned.
	stop func() error
}

// newRig makes a rig whose informer is not running yet.
func newRig(t *testing.T, opts informer.Options[*corev1.Pod]) *rig {
	return newRigFor(t, rest.ResourceOptions{}, opts)
}

// newRigFor is like newRig, for some pods, or for one encoding.
func newRigFor(t *testing.T, which rest.ResourceOptions, opts informer.Options[*corev1.Pod]) *rig {
	server, source := newServer(t, which)
	if opts.Reflector.Backoff == (reflector.Backoff{}) {
		opts.Reflector.Backoff = reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	}
	inf, err := informer.New(source, opts)
	require.NoError(t, err)
	return &rig{t: t, server: server, informer: inf, random: rand.New(rand.NewPCG(1, 2)), stop: func() error { return nil }}
}

// newServer starts a server, and returns it and its pods as a source.
func newServer(t *testing.T, which rest.ResourceOptions) (*apitest.Server, listwatch.Source[*corev1.Pod]) {
	server := apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return server, rest.Must(rest.NewResource[*corev1.Pod](client, pods, which))
}

// nowhere is a client that is never used.
func nowhere(t *testing.T) *rest.Client {
	client, err := rest.NewClient(rest.Config{Host: "http://nowhere"}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// run starts the informer.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.informer.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-done
	})
	r.t.Cleanup(func() { _ = r.stop() })
}

func (r *rig) seed(seed uint64) { r.random = rand.New(rand.NewPCG(seed, 2)) }

// runSynced starts the informer and waits for its first list.
func (r *rig) runSynced() {
	r.run()
	require.NoError(r.t, r.informer.WaitForSync(r.t.Context()))
}

func (r *rig) add(handle func(informer.Event[*corev1.Pod]), opts informer.HandlerOptions) *informer.Registration[*corev1.Pod] {
	registration, err := r.informer.AddHandler(handle, opts)
	require.NoError(r.t, err)
	return registration
}

func newPod(key types.NamespacedName) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
	}
}

func key(n int) types.NamespacedName {
	return types.NamespacedName{Namespace: fmt.Sprintf("ns-%d", n%3), Name: fmt.Sprintf("pod-%d", n)}
}

// change randomly creates, updates or deletes one of n pods on the server.
func (r *rig) change(n int) {
	k := key(r.random.IntN(n))
	obj, err := r.server.Get(pods, k)
	switch {
	case err != nil:
		_, err = r.server.Create(newPod(k))
	case r.random.IntN(4) == 0:
		err = r.server.Delete(pods, k)
	default:
		pod := obj.(*corev1.Pod)
		pod.Labels["changed"] = strconv.Itoa(r.random.IntN(1_000_000))
		_, err = r.server.Update(pod)
	}
	require.NoError(r.t, err)
}

// churn changes some of n pods. If faults is set, connections break meanwhile in every way that the
// server can produce. churn takes some virtual minutes.
func (r *rig) churn(n, changes int, faults bool) {
	for range changes {
		r.change(n)
		if r.random.IntN(5) == 0 {
			time.Sleep(time.Duration(r.random.IntN(300)) * time.Millisecond)
		}
		if faults && r.random.IntN(12) == 0 {
			r.fault()
		}
	}
}

// fault injects a fault, mostly into the informer's next request.
func (r *rig) fault() {
	once := func(verb string, action apitest.Action) {
		r.server.Inject(apitest.Fault{Verb: verb, Times: 1, Action: action})
	}
	switch r.random.IntN(9) {
	case 0:
		once("watch", apitest.Expired())
	case 1:
		once("watch", apitest.TooManyRequests(time.Second))
		once("list", apitest.TooManyRequests(time.Second))
	case 2:
		once("watch", apitest.Expired())
		once("list", apitest.CutBody(2_000))
	case 3:
		once("watch", apitest.CutFrame(1+r.random.IntN(3)))
	case 4:
		once("watch", apitest.Drop())
	case 5:
		once("watch", apitest.DuplicateEvents())
	case 6:
		once("list", apitest.Code(500, 0))
		once("watch", apitest.Code(500, 0))
	case 7:
		once("watch", apitest.HTML())
	case 8:
		r.server.Compact()
	}
	if r.random.IntN(2) == 0 {
		r.server.DropWatches("")
	} else {
		r.server.EndWatches("")
	}
}

// disconnect cuts the informer off from the server until reconnect is called. Only a relist can
// show the changes in between.
func (r *rig) disconnect() (reconnect func()) {
	watches := r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.Expired()})
	lists := r.server.Inject(apitest.Fault{Verb: "list", Action: apitest.Code(500, 0)})
	r.server.DropWatches("")
	synctest.Wait()
	return func() {
		watches.Remove()
		lists.Remove()
		r.server.Compact()
	}
}

// settle waits until the store equals the server. Then it waits until all goroutines are idle,
// because the reflector updates its status only after it has handed over the last event.
func (r *rig) settle() {
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Minute)
	defer cancel()
	require.NoError(r.t, r.informer.Store().WaitRV(ctx, r.server.ResourceVersion()))
	synctest.Wait()
}

// versions returns the versions of all pods on the server.
func (r *rig) versions() map[types.NamespacedName]string {
	all := map[types.NamespacedName]string{}
	objects, _, err := r.server.List(pods, "")
	require.NoError(r.t, err)
	for _, obj := range objects {
		pod := obj.(*corev1.Pod)
		all[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = pod.ResourceVersion
	}
	return all
}

// stored returns the versions of all pods in the store.
func (r *rig) stored() map[types.NamespacedName]string {
	all := map[types.NamespacedName]string{}
	for entry := range r.informer.Store().Snapshot().Entries() {
		all[entry.Key] = entry.ResourceVersion
	}
	return all
}

func number(t *testing.T, resourceVersion string) uint64 {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	require.NoError(t, err)
	return n
}
