package informer_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// contents returns the content of each pod, because two objects may have the same version.
func contents(objects []apitest.Object) map[types.NamespacedName]string {
	all := map[types.NamespacedName]string{}
	for _, obj := range objects {
		all[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] = obj.GetResourceVersion() + " " + obj.GetLabels()["changed"]
	}
	return all
}

// contentHandler is the set of pods that a handler knows.
type contentHandler struct {
	mu   sync.Mutex // guards following
	pods map[types.NamespacedName]*corev1.Pod
}

func (p *contentHandler) handle(e informer.Event[*corev1.Pod]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pods == nil {
		p.pods = map[types.NamespacedName]*corev1.Pod{}
	}
	if e.Type == informer.Deleted {
		delete(p.pods, e.Key)
	} else {
		p.pods[e.Key] = e.New
	}
}

func (p *contentHandler) contents() map[types.NamespacedName]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var objects []apitest.Object
	for _, pod := range p.pods {
		objects = append(objects, pod)
	}
	return contents(objects)
}

// write sets a label of a pod, and creates the pod if it does not exist.
func (r *rig) write(n int, changed string) {
	obj, err := r.server.Get(pods, key(n))
	if err != nil {
		pod := newPod(key(n))
		pod.Labels["changed"] = changed
		_, err = r.server.Create(pod)
	} else {
		pod := obj.(*corev1.Pod)
		pod.Labels["changed"] = changed
		_, err = r.server.Update(pod)
	}
	require.NoError(r.t, err)
}

// requireEqual requires that store and handler have the objects of the server.
func (r *rig) requireEqual(p *contentHandler) {
	r.t.Helper()
	objects, _, err := r.server.List(pods, "")
	require.NoError(r.t, err)
	want := contents(objects)
	var stored []apitest.Object
	for entry := range r.informer.Store().Entries() {
		stored = append(stored, entry.Object)
	}
	require.Equal(r.t, want, contents(stored), "store")
	require.Equal(r.t, want, p.contents(), "handler")
}

// A cluster is restored from a backup, with or without an outage. Its versions are then lower or
// higher than the versions that the informer knows. Store and handlers soon equal the server again.
func TestG2_AClusterRestoredFromABackup(t *testing.T) {
	for name, c := range map[string]struct {
		outage time.Duration
		before int // writes to other resources in the new history, while the server is unreachable
		writes int // writes to pods in the new history
		mode   reflector.ListMode
		quiet  bool // no event came after the first list
		gently bool // the server ended the watches cleanly before the restore
	}{
		"behind":                           {},
		"behind, streaming lists":          {mode: reflector.WatchList},
		"behind, after an outage":          {outage: 20 * time.Second},
		"behind, other objects":            {writes: 5},
		"as far":                           {writes: 20},
		"as far, streaming lists":          {writes: 20, mode: reflector.WatchList},
		"passed":                           {writes: 30},
		"passed after an outage":           {writes: 30, outage: 20 * time.Second},
		"passed by others":                 {before: 30, writes: 1},
		"passed by others, after a while":  {before: 30, writes: 1, outage: 20 * time.Second},
		"passed by others alone":           {before: 30},
		"behind, no event known":           {quiet: true},
		"behind, ended in good order":      {gently: true},
		"passed, ended in good order":      {before: 30, writes: 1, gently: true},
		"behind, unknown and in order":     {quiet: true, gently: true},
		"passed, no event known":           {before: 30, writes: 1, outage: 20 * time.Second, quiet: true},
		"passed by others alone, streamed": {before: 30, mode: reflector.WatchList},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, informer.Options[*corev1.Pod]{Reflector: reflector.Options{ListMode: c.mode}})
				for n := range 10 {
					r.write(n, "first")
				}
				p := &contentHandler{}
				r.add(p.handle, informer.HandlerOptions{})
				if !c.quiet {
					r.runSynced()
				}
				r.write(0, "before the backup")
				backup := r.server.Backup()
				for n := range 10 {
					r.write(n, "after the backup")
				}
				for n := range 10 {
					r.write(n+5, "and again")
				}
				if c.quiet {
					r.runSynced()
				}
				synctest.Wait()
				r.requireEqual(p)
				known := r.informer.Store().ResourceVersion()

				var outages []*apitest.InjectedFault
				for _, verb := range []string{"watch", "list"} {
					if c.outage > 0 {
						outages = append(outages, r.server.Inject(apitest.Fault{Verb: verb, Action: apitest.Drop()}))
					}
				}
				if c.gently {
					// The next watch is requested before the restore, and its response comes after
					// it.
					r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Delay(time.Second)})
					r.server.EndWatches("pods")
					synctest.Wait()
				}
				r.server.Restore(backup)
				for n := range c.before {
					_, err := r.server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: strconv.Itoa(n)}})
					require.NoError(t, err)
				}
				for n := range c.writes {
					r.write(n%13, "another history")
				}
				time.Sleep(c.outage)
				for _, outage := range outages {
					outage.Remove()
				}
				time.Sleep(7 * time.Second)
				r.requireEqual(p)
				if number(t, r.server.ResourceVersion()) < number(t, known) {
					require.ErrorIs(t, r.informer.Status().Reflector.LastError, reflector.ErrTimeTravel)
				}

				// The informer follows later changes as well.
				r.write(3, "afterwards")
				require.NoError(t, r.server.Delete(pods, key(4)))
				time.Sleep(time.Second)
				r.requireEqual(p)
				require.NoError(t, r.informer.Healthy(time.Minute))
				require.Equal(t, r.server.ResourceVersion(), r.informer.Store().ResourceVersion())
				if errors.Is(r.informer.Status().Reflector.LastError, reflector.ErrIdle) {
					t.Fatal("the informer noticed the restore only when the idle timeout ended the watch")
				}
			})
		})
	}
}
