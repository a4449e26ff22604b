package enqueue_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

type (
	key   = types.NamespacedName
	event = informer.Event[*corev1.Pod]
)

var (
	pods        = corev1.SchemeGroupVersion.WithResource("pods")
	websiteKind = schema.GroupKind{Group: "example.com", Kind: "Website"}
	_           = enqueue.Queue(&workqueue.Queue[types.NamespacedName]{})
)

// rig is a server, an informer of its pods, and a queue. It is made inside a synctest
// bubble.
type rig struct {
	t        *testing.T
	server   *apitest.Server
	informer *informer.Informer[*corev1.Pod]
	queue    *workqueue.Queue[key]
}

func newRig(t *testing.T) *rig {
	server := apitest.New(apitest.Options{})
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	inf, err := informer.New(rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	return &rig{t: t, server: server, informer: inf, queue: workqueue.New(workqueue.Options[key]{})}
}

// run starts the informer with a handler.
func (r *rig) run(handle func(event), opts informer.HandlerOptions) {
	_, err := r.informer.AddHandler(handle, opts)
	require.NoError(r.t, err)
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.informer.Run(ctx) }()
	r.t.Cleanup(func() { cancel(); <-ended })
}

// pod returns a pod that a website of this name controls; "" means no owner.
func pod(name, owner string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}}
	if owner != "" {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Website", Name: owner, Controller: new(true)}}
	}
	return p
}

func (r *rig) create(p *corev1.Pod) {
	_, err := r.server.Create(p)
	require.NoError(r.t, err)
}

func (r *rig) update(p *corev1.Pod) {
	_, err := r.server.Update(p)
	require.NoError(r.t, err)
}

// queued waits until everything is idle, and takes the queued keys.
func (r *rig) queued() (items []string) {
	synctest.Wait()
	for r.queue.Len() > 0 {
		item, err := r.queue.GetItem(r.t.Context())
		require.NoError(r.t, err)
		r.queue.Done(item.Key)
		items = append(items, fmt.Sprint(item.Key, " ", item.Causes.First, " ", item.Priority))
	}
	return items
}

func TestPriorityDependsOnTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.create(pod("a", ""))
		r.run(enqueue.Object[*corev1.Pod](r.queue), informer.HandlerOptions{Resync: time.Hour})
		require.Equal(t, []string{"web/a initial -100"}, r.queued())

		r.create(pod("b", ""))
		require.Equal(t, []string{"web/b watch 0"}, r.queued(), "an object added after the first list has normal priority")
		changed := pod("a", "")
		changed.Labels = map[string]string{"changed": "yes"}
		r.update(changed)
		require.Equal(t, []string{"web/a watch 0"}, r.queued())

		time.Sleep(time.Hour)
		require.ElementsMatch(t, []string{"web/a resync -100", "web/b resync -100"}, r.queued())

		// The fault comes twice, because the first watch resumes with the last event.
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 2, Action: apitest.Expired()})
		r.server.DropWatches("pods")
		require.NoError(t, r.server.Delete(pods, key{Namespace: "web", Name: "a"}))
		r.create(pod("c", ""))
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []string{"web/a relist 0", "web/c relist 0"}, r.queued())
	})
}

func TestChangesOvertakeInitialObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.create(pod("a", ""))
		r.create(pod("b", ""))
		r.run(enqueue.Object[*corev1.Pod](r.queue), informer.HandlerOptions{})
		synctest.Wait()
		r.create(pod("c", ""))
		require.Equal(t, "web/c watch 0", r.queued()[0])
	})
}

func TestOwnerIsTheController(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about     string
		reference metav1.OwnerReference
		want      []string
	}{
		{"it", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Website", Controller: new(true)}, []string{"web/shop watch 0"}},
		{"in any version", metav1.OwnerReference{APIVersion: "example.com/v2", Kind: "Website", Controller: new(true)}, []string{"web/shop watch 0"}},
		{"owner without control", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Website"}, nil},
		{"not controlling", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Website", Controller: new(false)}, nil},
		{"another kind", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Shop", Controller: new(true)}, nil},
		{"another group", metav1.OwnerReference{APIVersion: "example.org/v1", Kind: "Website", Controller: new(true)}, nil},
		{"the core group", metav1.OwnerReference{APIVersion: "v1", Kind: "Website", Controller: new(true)}, nil},
		{"no version", metav1.OwnerReference{APIVersion: "a/b/c", Kind: "Website", Controller: new(true)}, nil},
	} {
		t.Run(c.about, func(t *testing.T) {
			t.Parallel()
			c.reference.Name = "shop"
			owned := pod("a", "")
			owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n"}, c.reference}
			queue := &recorder{}
			enqueue.Owner[*corev1.Pod](queue, websiteKind)(event{Type: informer.Added, Cause: informer.Watch, Key: key{Namespace: "web", Name: "a"}, New: owned})
			require.Equal(t, c.want, queue.added)
		})
	}
	t.Run("of the core group", func(t *testing.T) {
		t.Parallel()
		queue := &recorder{}
		owned := pod("a", "")
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ReplicationController", Name: "rc", Controller: new(true)}}
		enqueue.Owner[*corev1.Pod](queue, schema.GroupKind{Kind: "ReplicationController"})(event{Type: informer.Added, Cause: informer.Initial, Key: key{Namespace: "web", Name: "a"}, New: owned})
		require.Equal(t, []string{"web/rc initial -100"}, queue.added)
	})
}

// recorder is a queue that only records the keys.
type recorder struct{ added []string }

func (r *recorder) AddWith(key types.NamespacedName, how workqueue.AddOptions) {
	r.added = append(r.added, fmt.Sprint(key, " ", how.Cause, " ", how.Priority))
}

func TestOldAndNewOwnersAreEnqueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.create(pod("a", "one"))
		r.create(pod("free", ""))
		r.run(enqueue.Owner[*corev1.Pod](r.queue, websiteKind), informer.HandlerOptions{})
		require.Equal(t, []string{"web/one initial -100"}, r.queued())

		r.update(pod("a", "two"))
		require.Equal(t, []string{"web/two watch 0", "web/one watch 0"}, r.queued())
		r.update(pod("a", "")) // loses its owner
		require.Equal(t, []string{"web/two watch 0"}, r.queued())
		r.update(pod("a", "three")) // gets a new owner
		require.Equal(t, []string{"web/three watch 0"}, r.queued())
		require.NoError(t, r.server.Delete(pods, key{Namespace: "web", Name: "a"}))
		require.Equal(t, []string{"web/three watch 0"}, r.queued())
		require.NoError(t, r.server.Delete(pods, key{Namespace: "web", Name: "free"}))
		require.Empty(t, r.queued())
	})
}

func TestUnchangedOwnerIsEnqueuedOnce(t *testing.T) {
	t.Parallel()
	queue := &recorder{}
	handle := enqueue.Owner[*corev1.Pod](queue, websiteKind)
	handle(event{Type: informer.Updated, Cause: informer.Resync, Key: key{Namespace: "web", Name: "a"}, Old: pod("a", "one"), New: pod("a", "one")})
	require.Equal(t, []string{"web/one resync -100"}, queue.added)
}

// A handler that is behind may receive a change of owner and the deletion as one event.
func TestOldAndNewOwnersOfADeletionAreEnqueued(t *testing.T) {
	t.Parallel()
	queue := &recorder{}
	handle := enqueue.Owner[*corev1.Pod](queue, websiteKind)
	handle(event{Type: informer.Deleted, Cause: informer.Watch, Key: key{Namespace: "web", Name: "a"}, Old: pod("a", "one"), New: pod("a", "two")})
	require.Equal(t, []string{"web/two watch 0", "web/one watch 0"}, queue.added)
}

func TestMapEnqueuesTheReturnedKeys(t *testing.T) {
	t.Parallel()
	queue := &recorder{}
	var keys iter.Seq[key]
	handle := enqueue.Map(queue, func(event) iter.Seq[key] { return keys })
	handle(event{Cause: informer.Watch})
	require.Empty(t, queue.added)
	keys = slices.Values([]key{{Name: "node"}, {Namespace: "web", Name: "a"}})
	handle(event{Cause: informer.Relist})
	require.Equal(t, []string{"/node relist 0", "web/a relist 0"}, queue.added)
}
