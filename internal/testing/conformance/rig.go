package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
)

// maker makes informers, all of one list mode.
type maker struct {
	open      NewInformer
	watchList bool
}

type informerCase = testCase[maker]

// TestInformer runs the suite on the informers that the function open makes, with lists and with
// streaming lists. A case in differences must fail in at least one of the two modes.
func TestInformer(t *testing.T, open NewInformer, differences Differences) {
	cases := slices.Concat(storeOfInformerCases, handlerCases, resyncCases, failureCases)
	verify(t, cases, maker{open: open}, differences, func(t *testing.T, c informerCase, o maker) (failures []string) {
		for _, o.watchList = range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				for _, failure := range runOnce(t, c, o) {
					failures = append(failures, fmt.Sprintf("watchlist=%v: %s", o.watchList, failure))
				}
			})
		}
		return failures
	})
}

// rig is an informer and its server, in a bubble of virtual time.
type rig struct {
	*caseT
	server   *apitest.Server
	informer Informer

	// stop ends the informer, and returns how long this took. The case fails if it takes more than
	// an hour.
	stop func() time.Duration
}

// newRig makes an informer that is not running yet. The rig must be closed.
func (p *caseT) newRig(o maker, setup Setup) *rig {
	setup.Server = apitest.New(apitest.Options{BookmarkInterval: 10 * time.Second})
	p.succeeds(setup.Server.ListenMemory())
	setup.WatchList = o.watchList
	inf, err := o.open("subject", setup)
	p.succeeds(err)
	return &rig{caseT: p, server: setup.Server, informer: inf}
}

// start runs the informer.
func (r *rig) start() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = r.informer.Run(ctx)
	}()
	r.stop = sync.OnceValue(func() time.Duration {
		began := time.Now()
		cancel()
		<-done
		return time.Since(began)
	})
}

// close ends everything. If the informer was never started, close starts it first, so that it
// releases its resources.
func (r *rig) close() {
	if r.stop == nil {
		r.start()
	}
	r.stop()
	r.server.Close()
}

// startSynced runs the informer until all existing objects have been handled.
func (r *rig) startSynced() {
	r.start()
	r.settle()
	r.must(r.informer.Synced(), "the informer does not become synced")
}

// settle waits until the store equals the server, and handlers are idle.
func (r *rig) settle() {
	r.eventually("the store is not what the server is", func() bool {
		stored, exist := r.informer.Pods(), r.serverObjects()
		for key, version := range exist {
			if pod := stored[key]; pod == nil || pod.Labels["version"] != version {
				return false
			}
		}
		return len(stored) == len(exist)
	})
	time.Sleep(time.Second)
	synctest.Wait()
}

// eventually waits for a condition, for half an hour of virtual time.
func (r *rig) eventually(otherwise string, ok func() bool) {
	for range 1800 {
		if ok() {
			return
		}
		time.Sleep(time.Second)
	}
	r.must(false, "%s", otherwise)
}

// serverObjects returns the objects of the server: the label "version" by key.
func (r *rig) serverObjects() map[types.NamespacedName]string {
	all := map[types.NamespacedName]string{}
	list, _, err := r.server.List(podResource, "")
	r.succeeds(err)
	for _, o := range list {
		all[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}] = o.GetLabels()["version"]
	}
	return all
}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// create, update and delete change pods in order. The label "version" has the version, because a
// transform may remove the resourceVersion.
func (r *rig) create(all ...string) {
	for _, name := range all {
		_, err := r.server.Create(podOf(name, "1"))
		r.succeeds(err)
	}
}

func (r *rig) update(name, version string) {
	_, err := r.server.Update(podOf(name, version))
	r.succeeds(err)
}

func (r *rig) delete(name string) { r.succeeds(r.server.Delete(podResource, key(name))) }

func podOf(name, version string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"version": version}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/web:1"}}},
	}
}

// disconnected calls a function while the informer has no connection, so that the informer gets the
// changes only by a relist.
func (r *rig) disconnected(do func()) {
	broken := r.server.Inject(apitest.Fault{Action: apitest.Code(503, 0)})
	r.server.DropWatches("")
	time.Sleep(time.Second)
	do()
	r.server.Compact()
	broken.Remove()
	r.settle()
}

// recorder is a handler that records its events.
type recorder struct {
	Registration

	mu     sync.Mutex // guards following
	events []Event
}

// record adds a handler that calls the functions in do and then records the event.
func (r *rig) record(resync time.Duration, do ...func(Event)) *recorder {
	rec := &recorder{}
	registration, err := r.informer.AddHandler(func(e Event) {
		for _, do := range do {
			do(e)
		}
		rec.mu.Lock()
		defer rec.mu.Unlock()
		rec.events = append(rec.events, e)
	}, resync)
	r.succeeds(err)
	rec.Registration = registration
	return rec
}

// take returns the events since the last take.
func (rec *recorder) take() []Event {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	events := rec.events
	rec.events = nil
	return events
}

// eventTexts returns the events since the last take as sorted text: "added a@1", with "initially"
// for Initial and "?" for a tombstone.
func (rec *recorder) eventTexts() []string {
	all := []string{}
	for _, e := range rec.take() {
		text := string(e.Type)
		if e.Initial && e.Type == Added {
			text = "initially " + text
		}
		if e.FinalStateUnknown {
			text += "?"
		}
		all = append(all, text+" "+e.Key.Name+"@"+e.New.Labels["version"])
	}
	slices.Sort(all)
	return all
}
