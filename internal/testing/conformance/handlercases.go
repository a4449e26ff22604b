package conformance

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/apitest"
)

// handlerCases test the events of handlers.
var handlerCases = []informerCase{
	{"existing objects are delivered as initial, later ones are not", func(p *caseT, o maker) {
		// SI-15, PD-11
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		h := r.record(0)
		r.startSynced()
		p.equal([]string{"initially added a@1", "initially added b@1"}, h.eventTexts(), "events of existing objects")
		r.create("c")
		r.update("a", "2")
		r.delete("b")
		r.settle()
		p.equal([]string{"added c@1", "deleted b@1", "updated a@2"}, h.eventTexts(), "later events")
	}},
	{"a relist delivers changes, not as initial", func(p *caseT, o maker) { // PD-11
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		h := r.record(0)
		r.startSynced()
		h.take()
		r.disconnected(func() {
			r.create("c")
			r.update("a", "2")
			r.delete("b")
		})
		p.equal([]string{"added c@1", "deleted? b@1", "updated a@2"}, h.eventTexts(), "events")
	}},
	{"a relist delivers no unchanged object", func(p *caseT, o maker) { // D11, SI-13
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		h := r.record(0)
		r.startSynced()
		h.take()
		r.disconnected(func() { r.update("a", "2") })
		p.equal([]string{"updated a@2"}, h.eventTexts(), "events")
	}},
	{"a repeated event is delivered once", func(p *caseT, o maker) { // D11, D16, PD-3
		r := p.newRig(o, Setup{})
		defer r.close()
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.DuplicateEvents()})
		h := r.record(0)
		r.startSynced()
		r.create("a")
		r.update("a", "2")
		r.delete("a")
		r.settle()
		p.equal([]string{"added a@1", "deleted a@2", "updated a@2"}, h.eventTexts(), "events")
	}},
	{"new is the next old, and the store is never older", func(p *caseT, o maker) {
		// SI-8, SI-10, SI-11
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a")
		wrong := ""
		h := r.record(0, func(e Event) {
			stored := r.informer.Get(e.Key)
			if e.Type != Deleted && (stored == nil || stored.Labels["version"] < e.New.Labels["version"]) {
				wrong = fmt.Sprintf("%s: the store has %v", e.New.Labels["version"], stored)
			}
		})
		r.startSynced()
		for version := 2; version < 9; version++ {
			r.update("a", fmt.Sprint(version))
			if version == 5 {
				r.settle()
				r.disconnected(func() { r.update("a", "55") })
			}
		}
		r.settle()
		p.equal("", wrong, "what a handler saw in the store")
		events := h.take()
		for n := 1; n < len(events); n++ {
			p.must(events[n].Old == events[n-1].New, "event %d: Old is not New of the event before", n)
		}
		p.must(len(events) >= 8, "there were %d events", len(events))
	}},
	{"handlers don't delay each other", func(p *caseT, o maker) { // SI-9
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a")
		release := make(chan struct{})
		r.record(0, func(Event) { <-release })
		h := r.record(0)
		r.startSynced()
		r.update("a", "2")
		r.settle()
		p.equal([]string{"initially added a@1", "updated a@2"}, h.eventTexts(), "events beside a stuck handler")
		close(release)
	}},
	{"a handler that is stuck does not fill the memory", func(p *caseT, o maker) { // D24, SI-9
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a")
		release := make(chan struct{})
		h := r.record(0, func(Event) { <-release })
		r.startSynced()
		for version := range 3000 {
			r.update("a", fmt.Sprint(version))
		}
		r.settle()
		close(release)
		time.Sleep(time.Second)
		events := h.take()
		p.equal("2999", events[len(events)-1].New.Labels["version"], "the last delivered version")
		p.must(len(events) < 2000, "%d of 3000 events were kept", len(events))
	}},
	{"a late handler receives every object once", func(p *caseT, o maker) { // SI-16
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		r.startSynced()
		h := r.record(0)
		r.update("a", "2")
		r.settle()
		var versions []string
		for _, e := range h.take() {
			if e.Key.Name == "a" {
				versions = append(versions, e.New.Labels["version"])
			}
		}
		p.equal("2", versions[len(versions)-1], "the last version")
		p.must(len(versions) <= 2, "delivered versions of a: %v", versions)
	}},
	{"synced means that the initial adds have returned", func(p *caseT, o maker) { // SI-17
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b", "c")
		slow := func(Event) { time.Sleep(time.Minute) }
		early := r.record(0, slow)
		r.startSynced()
		p.must(!early.Synced(), "the handler was synced before its initial adds returned")
		time.Sleep(3 * time.Minute)
		p.must(early.Synced(), "the handler is not synced")
		late := r.record(0, slow)
		p.must(!late.Synced(), "the late handler was synced before its initial adds returned")
		time.Sleep(3*time.Minute + time.Second)
		p.must(late.Synced(), "the late handler is not synced")
	}},
	{"a handler that panics goes on, and is synced", func(p *caseT, o maker) { // D10, SI-14
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a", "b")
		calls := 0
		h := r.record(0, func(Event) {
			calls++
			if calls == 1 {
				panic("a bug")
			}
		})
		r.startSynced()
		time.Sleep(time.Minute)
		p.equal(2, calls, "calls")
		p.must(h.Synced(), "the handler is not synced")
	}},
	{"two registrations of one handler are independent", func(p *caseT, o maker) { // SI-18
		r := p.newRig(o, Setup{})
		defer r.close()
		var calls atomic.Int32
		handle := func(Event) { calls.Add(1) }
		first, err := r.informer.AddHandler(handle, 0)
		p.succeeds(err)
		_, err = r.informer.AddHandler(handle, 0)
		p.succeeds(err)
		r.startSynced()
		r.create("a")
		r.settle()
		p.equal(int32(2), calls.Load(), "calls")
		first.Remove()
		r.create("b")
		r.settle()
		p.equal(int32(3), calls.Load(), "calls after a registration was removed")
	}},
	{"a removed handler receives no more events", func(p *caseT, o maker) { // SI-19
		r := p.newRig(o, Setup{})
		defer r.close()
		h := r.record(0)
		other := r.record(0)
		r.startSynced()
		h.Remove()
		h.Remove()
		time.Sleep(time.Second)
		r.create("a")
		r.settle()
		p.equal([]string{}, h.eventTexts(), "events")
		p.equal([]string{"added a@1"}, other.eventTexts(), "events of another handler")
	}},
	{"a handler after the stop is refused", func(p *caseT, o maker) { // SI-5
		r := p.newRig(o, Setup{})
		defer r.close()
		h := r.record(0)
		r.startSynced()
		r.stop()
		_, err := r.informer.AddHandler(func(Event) {}, 0)
		p.must(err != nil, "AddHandler returned no error")
		h.Remove()
	}},
	{"run waits for a call in progress", func(p *caseT, o maker) { // SI-2
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a")
		r.record(0, func(Event) { time.Sleep(10 * time.Minute) })
		r.start()
		time.Sleep(time.Minute)
		took := r.stop()
		p.must(took > 8*time.Minute && took < 11*time.Minute, "the stop took %v", took)
	}},
}
