package play

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	framework "k8s.io/client-go/tools/cache/testing"
)

// customStore is a program's own store, such as exporters have. It writes its calls to the trace.
type customStore struct {
	p     *player
	fails bool
}

func (s customStore) call(format string, args ...any) error {
	s.p.trace("  store."+format, args...)
	if s.fails && s.p.chance(4) {
		return fmt.Errorf("refused")
	}
	return nil
}

func (s customStore) Add(obj any) error    { return s.call("Add %s", show(obj)) }
func (s customStore) Update(obj any) error { return s.call("Update %s", show(obj)) }
func (s customStore) Delete(obj any) error { return s.call("Delete %s", show(obj)) }
func (s customStore) Replace(objs []any, version string) error {
	s.p.trace("  store.Replace %v %s", showAll(objs), version)
	return nil
}
func (s customStore) Resync() error {
	s.p.trace("  store.Resync")
	return nil
}

// customStoreWithOptionals also has the optional methods of a ReflectorStore.
type customStoreWithOptionals struct{ customStore }

func (s customStoreWithOptionals) Bookmark(version string) error {
	return s.call("Bookmark %s", version)
}
func (s customStoreWithOptionals) UpdateResourceVersion(version string) {
	_ = s.call("UpdateResourceVersion %s", version)
}

// scriptedServer is a server whose responses the history determines.
type scriptedServer struct {
	p       *player
	paged   bool
	objs    []corev1.Pod
	watches []*watch.FakeWatcher
}

func (s *scriptedServer) options(verb string, o metav1.ListOptions) {
	timeout := "none"
	if o.TimeoutSeconds != nil {
		timeout = strconv.FormatBool(*o.TimeoutSeconds >= 300 && *o.TimeoutSeconds <= 600)
	}
	s.p.trace("  %s version %q match %q limit %d continue %q bookmarks %v events %v timeout in range: %s", verb, o.ResourceVersion,
		o.ResourceVersionMatch, o.Limit, o.Continue, o.AllowWatchBookmarks, o.SendInitialEvents != nil, timeout)
}

func (s *scriptedServer) list(o metav1.ListOptions) (runtime.Object, error) {
	s.options("list", o)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(s.p.version)}}
	begin := 0
	if o.Continue != "" {
		begin, _ = strconv.Atoi(o.Continue)
	}
	list.Items = append(list.Items, s.objs[begin:]...)
	if s.paged && len(list.Items) > 1 && o.Limit > 0 {
		list.Items, list.Continue = list.Items[:1], strconv.Itoa(begin+1)
	}
	return list, nil
}

func (s *scriptedServer) watch(o metav1.ListOptions) (watch.Interface, error) {
	s.options("watch", o)
	w := watch.NewFakeWithChanSize(100, false)
	s.watches = append(s.watches, w)
	return w, nil
}

// playReflector plays the contracts RC-1 to RC-35, but injects no server faults. Its trace has the
// requests, and the reflector's calls to the store.
func playReflector(t *testing.T, p *player) {
	synctest.Test(t, func(t *testing.T) {
		// TestALostWatchWithoutAVersionLosesNoEvents covers the difference after a watch from "0".
		p.version = 1
		s := &scriptedServer{p: p, paged: p.chance(3)}
		for _, o := range p.pods(3) {
			s.objs = append(s.objs, *o.(*corev1.Pod))
		}
		var store cache.ReflectorStore = customStore{p: p}
		if p.chance(2) {
			store = customStoreWithOptionals{customStore{p: p, fails: p.chance(2)}}
		}
		lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListFunc: s.list, WatchFunc: s.watch}, noStreamingLists{})
		period := time.Duration(p.IntN(2)) * 3 * time.Second
		var expected any = &corev1.Pod{}
		if p.chance(5) {
			expected = nil
		}
		r := cache.NewReflectorWithOptions(lw, expected, store, cache.ReflectorOptions{Name: "r", ResyncPeriod: period})
		if p.chance(3) {
			r.WatchListPageSize = 7
		}
		if p.chance(3) {
			r.ShouldResync = func() bool {
				p.trace("  should resync")
				return p.chance(2)
			}
		}
		p.trace("paged %v, %T, period %v, page %d, %s, %s", s.paged, store, period, r.WatchListPageSize, r.Name(), r.TypeDescription())
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.RunWithContext(ctx) })
		synctest.Wait()
		for range 25 {
			w := s.watches[len(s.watches)-1]
			o := p.pod()
			op := p.IntN(8)
			p.trace("event %d %s", op, show(o))
			switch op {
			case 0:
				w.Add(o)
			case 1:
				w.Modify(o)
			case 2:
				w.Delete(o)
			case 3:
				w.Action(watch.Bookmark, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: o.ResourceVersion}})
			case 4: // an object of another type, which is skipped if a type is expected
				if expected != nil {
					w.Add(&corev1.Node{ObjectMeta: o.ObjectMeta})
				}
			case 5:
				w.Action(watch.Added, &metav1.Table{ListMeta: metav1.ListMeta{ResourceVersion: o.ResourceVersion}})
			case 6: // the server ends the watch, and the next watch continues
				time.Sleep(1500*time.Millisecond + time.Microsecond)
				p.trace("end of the watch")
				w.Stop()
			case 7:
				time.Sleep(time.Duration(p.IntN(2000))*time.Millisecond + time.Microsecond)
			}
			synctest.Wait()
			p.trace("  at %s", r.LastSyncResourceVersion())
		}
		cancel()
		running.Wait()
		for _, w := range s.watches {
			p.trace("stopped %v", w.IsStopped())
		}
	})
}

type noStreamingLists struct{}

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

// playController covers New with a program's own queue, and informers with one handler.
func playController(t *testing.T, p *player) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		i := &informer{player: p, source: source, exists: map[string]bool{}}
		d := &eventLog{}
		var store cache.Store
		var controller cache.Controller
		kinds := p.IntN(4)
		p.trace("kind %d", kinds)
		switch kinds {
		case 0, 1:
			store = cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
			var queue cache.Queue = cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: knownStore{store}, EmitDeltaTypeReplaced: p.chance(2)})
			if kinds == 1 {
				queue = cache.NewRealFIFO(cache.MetaNamespaceKeyFunc, knownStore{store}, nil)
			}
			controller = cache.New(&cache.Config{
				Queue: queue, ListerWatcher: source, ObjectType: &corev1.Pod{}, FullResyncPeriod: time.Duration(p.IntN(2)) * 4 * time.Second,
				Process: func(obj any, initial bool) error {
					for _, delta := range obj.(cache.Deltas) {
						knownStore{store}.apply(delta)
						d.note(delta.Object, "%s %v", showDelta(delta), initial)
					}
					return errProcess
				},
			})
		case 2:
			store, controller = cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: source, ObjectType: &corev1.Pod{}, Handler: d,
				ResyncPeriod: time.Duration(p.IntN(2)) * 4 * time.Second, Indexers: cache.Indexers{"color": byLabel("color")}, Transform: p.chanceTransform()})
		case 3:
			store, controller = cache.NewIndexerInformer(source, &corev1.Pod{}, 4*time.Second, d, cache.Indexers{"color": byLabel("color")})
		}
		for range p.IntN(4) {
			i.change(false)
		}
		report := func() {
			synctest.Wait()
			p.trace("  got %q", d.take(true))
			p.trace("  has %v, synced %v, at %s", sorted(showAll(store.List())), controller.HasSynced(), controller.LastSyncResourceVersion())
		}
		report()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { controller.RunWithContext(ctx) })
		report()
		for range 25 {
			if p.chance(3) {
				time.Sleep(time.Duration(p.IntN(3000))*time.Millisecond + time.Microsecond)
			} else {
				i.change(false)
			}
			report()
		}
		cancel()
		running.Wait()
		report()
		source.Shutdown()
	})
}

func (p *player) chanceTransform() cache.TransformFunc {
	if p.chance(2) {
		return nil
	}
	return func(obj any) (any, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok || pod.Annotations != nil {
			return obj, nil
		}
		pod = pod.DeepCopy()
		pod.Annotations = map[string]string{"transformed": "'"}
		return pod, nil
	}
}
