package play

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	framework "k8s.io/client-go/tools/cache/testing"
)

// eventLog is a handler that records its events.
type eventLog struct {
	mu    sync.Mutex // guards following
	lines []string
}

func (d *eventLog) note(obj any, format string, args ...any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, key+" "+fmt.Sprintf(format, args...))
}

func (d *eventLog) OnAdd(obj any, initial bool) { d.note(obj, "add %s %v", show(obj), initial) }
func (d *eventLog) OnUpdate(old, obj any) {
	d.note(obj, "update %s %s same %v", show(old), show(obj), old == obj)
}
func (d *eventLog) OnDelete(obj any) { d.note(obj, "delete %s", show(obj)) }

// take returns the events since the last call of take. If sort is true, it sorts them by key; the
// events of a key stay in their order.
func (d *eventLog) take(sort bool) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	if !sort {
		return lines
	}
	byKey := map[string][]string{}
	var keys []string
	for _, line := range lines {
		key, _, _ := strings.Cut(line, " ")
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], line)
	}
	lines = nil
	for _, key := range sorted(keys) {
		lines = append(lines, byKey[key]...)
	}
	return lines
}

// informer is a shared informer under test, with its source.
type informer struct {
	*player
	source   *framework.FakeControllerSource
	informer cache.SharedIndexInformer
	handlers []*handler
	exists   map[string]bool
}

type handler struct {
	eventLog
	name   string
	handle cache.ResourceEventHandlerRegistration
	fresh  bool // the handler gets the store's objects in random order
}

func (i *informer) add(period time.Duration) {
	h := &handler{name: fmt.Sprintf("%d(%v)", len(i.handlers), period), fresh: true}
	var to cache.ResourceEventHandler = h
	if i.chance(4) {
		h.name += " of red"
		to = cache.FilteringResourceEventHandler{Handler: h, FilterFunc: func(obj any) bool {
			if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = gone.Obj
			}
			return obj.(*corev1.Pod).Labels["color"] == "red"
		}}
	}
	var err error
	h.handle, err = i.informer.AddEventHandlerWithResyncPeriod(to, period)
	i.trace("handler %s: %s", h.name, kind(err))
	i.handlers = append(i.handlers, h)
}

// change changes the source. If missed is true, the informer gets no event for the change.
func (i *informer) change(missed bool) {
	o := i.pod()
	o.ResourceVersion = ""
	switch {
	case !i.exists[o.Name]:
		i.exists[o.Name] = true
		i.trace("add %s missed %v", o.Name, missed)
		if missed {
			i.source.AddDropWatch(o)
		} else {
			i.source.Add(o)
		}
	case i.chance(3):
		i.exists[o.Name] = false
		i.trace("delete %s missed %v", o.Name, missed)
		if missed {
			i.source.DeleteDropWatch(o)
		} else {
			i.source.Delete(o)
		}
	default:
		i.trace("modify %s missed %v", o.Name, missed)
		if missed {
			i.source.ModifyDropWatch(o)
		} else {
			i.source.Modify(o)
		}
	}
}

// report writes the events of the handlers, and the content of the store.
func (i *informer) report(sort bool) {
	synctest.Wait()
	for _, h := range i.handlers {
		synced := false
		if h.handle != nil {
			synced = h.handle.HasSynced()
		}
		i.trace("  %s got %q, synced %v", h.name, h.take(sort || h.fresh), synced)
		h.fresh = false
	}
	i.trace("  has %v, synced %v, at %s, stopped %v", sorted(showAll(i.informer.GetStore().List())), i.informer.HasSynced(),
		i.informer.LastSyncResourceVersion(), i.informer.IsStopped())
	red, err := i.informer.GetIndexer().ByIndex("color", "red")
	i.trace("  red %v %s", sorted(showAll(red)), kind(err))
}

var periods = []time.Duration{0, 0, 500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second}

// playInformerWith runs an informer. The function test plays the history.
func (p *player) playInformerWith(t *testing.T, period time.Duration, test func(i *informer)) {
	synctest.Test(t, func(t *testing.T) {
		source := framework.NewFakeControllerSource()
		i := &informer{player: p, source: source, exists: map[string]bool{},
			informer: cache.NewSharedIndexInformer(source, &corev1.Pod{}, period, cache.Indexers{"color": byLabel("color")})}
		p.trace("informer of %v", period)
		if p.chance(4) {
			p.trace("transform: %s", kind(i.informer.SetTransform(func(obj any) (any, error) {
				pod, ok := obj.(*corev1.Pod)
				if !ok || pod.Annotations != nil {
					return obj, nil
				}
				pod = pod.DeepCopy()
				pod.Annotations = map[string]string{"transformed": "'"}
				return pod, nil
			})))
		}
		for range p.IntN(4) {
			i.change(false)
		}
		for range 1 + p.IntN(3) {
			i.add(periods[p.IntN(len(periods))])
		}
		i.report(false)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { i.informer.RunWithContext(ctx) })
		i.report(true)
		test(i)
		cancel()
		running.Wait()
		i.report(false)
		_, err := i.informer.AddEventHandler(&eventLog{})
		p.trace("handler after the end: %v", err != nil)
		p.trace("remove after the end: %s", kind(i.informer.RemoveEventHandler(i.handlers[0].handle)))
		source.Shutdown()
	})
}

// playInformer covers SI-1 to SI-31 and PD-1 to PD-11 without faults. It compares all events of the
// handlers in order.
func playInformer(t *testing.T, p *player) {
	p.playInformerWith(t, periods[p.IntN(len(periods))], func(i *informer) {
		for range 25 {
			switch p.IntN(8) {
			case 0, 1, 2, 3:
				i.change(false)
				i.report(false)
			case 4: // the notifications of a resync are in random order
				time.Sleep(time.Duration(p.IntN(3000))*time.Millisecond + time.Microsecond)
				i.report(true)
			case 5:
				i.add(periods[p.IntN(len(periods))])
				i.report(false)
			case 6:
				n := p.IntN(len(i.handlers))
				p.trace("remove %d: %s", n, kind(i.informer.RemoveEventHandler(i.handlers[n].handle)))
			case 7:
				p.trace("late: %v %v %v", i.informer.SetTransform(nil) != nil, i.informer.SetWatchErrorHandler(nil) != nil,
					i.informer.AddIndexers(cache.Indexers{"color": byLabel("color")}) != nil)
			}
		}
	})
}

// playRelist covers missed changes and lost watches, without resyncs. It compares the events of
// each key. It ignores updates without a change, because the number of lists differs between the
// two modules.
func playRelist(t *testing.T, p *player) {
	p.playInformerWith(t, 0, func(i *informer) {
		for range 8 {
			for range 1 + p.IntN(3) {
				i.change(p.chance(2))
			}
			if p.chance(3) {
				p.trace("lists fail for a while")
				i.source.ListError = errors.New("refused")
				i.source.ResetWatch()
				time.Sleep(time.Minute)
				i.source.ListError = nil
			}
			i.source.ResetWatch()
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			for _, h := range i.handlers {
				p.trace("  %s got %q", h.name, changes(h.take(true)))
			}
			p.trace("  has %v, at %s", sorted(showAll(i.informer.GetStore().List())), i.informer.LastSyncResourceVersion())
		}
	})
}

// changes removes updates from a version to the same version.
func changes(lines []string) (kept []string) {
	for _, line := range lines {
		word := strings.Fields(line)
		if word[1] == "update" && word[2] == word[3] {
			continue
		}
		kept = append(kept, line)
	}
	return kept
}
