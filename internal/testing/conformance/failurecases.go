package conformance

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/apitest"
)

// resyncCases test resyncs.
var resyncCases = []informerCase{
	{"a resync notifies due handlers of every object", func(p *caseT, o maker) {
		// SI-26, SI-27, PD-4
		r := p.newRig(o, Setup{Resync: time.Second})
		defer r.close()
		r.create("a", "b")
		var all []*recorder
		for _, period := range []time.Duration{0, 2 * time.Second, 3 * time.Second} {
			all = append(all, r.record(period))
		}
		r.startSynced()
		for _, h := range all {
			h.take()
		}
		time.Sleep(time.Hour)
		version := r.informer.ResourceVersion()
		for n, least := range []int{0, 2 * 1790, 2 * 1190} {
			events := all[n].take()
			p.must(len(events) >= least && len(events) <= least+40, "handler %d received %d events", n, len(events))
			for _, e := range events {
				p.must(e.Type == Updated && e.Old == e.New && !e.Initial, "handler %d received %+v", n, e)
			}
		}
		p.equal(version, r.informer.ResourceVersion(), "version")
	}},
	{"relists don't starve a resync", func(p *caseT, o maker) { // D22, RC-31
		r := p.newRig(o, Setup{Resync: 10 * time.Second})
		defer r.close()
		r.create("a")
		h := r.record(10 * time.Second)
		r.startSynced()
		h.take()
		for range 60 {
			r.server.Compact()
			r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Expired()})
			r.server.EndWatches("")
			time.Sleep(5 * time.Second)
		}
		resyncs := 0
		for _, e := range h.take() {
			if e.Type == Updated && e.Old == e.New {
				resyncs++
			}
		}
		p.must(resyncs >= 20, "%d resyncs in five minutes, every ten seconds", resyncs)
	}},
}

// failureCases test failures.
var failureCases = []informerCase{
	{"a stop ends every wait", func(p *caseT, o maker) { // D5, RC-18, SI-3
		r := p.newRig(o, Setup{})
		defer r.close()
		r.server.Inject(apitest.Fault{Action: apitest.Fail(apierrors.NewTooManyRequests("busy", 0))})
		r.start()
		time.Sleep(3 * time.Minute)
		took := r.stop()
		p.must(took < 100*time.Millisecond, "the stop took %v", took)
	}},
	{"a streaming list without an end falls back to a list", func(p *caseT, o maker) { // D6
		r := p.newRig(o, Setup{})
		defer r.close()
		r.create("a")
		r.server.Inject(apitest.Fault{Verb: "watch", Action: apitest.NoEndMarker()})
		r.startSynced()
	}},
	{"a stream that fails is reported", func(p *caseT, o maker) { // D7, RC-27
		var mu sync.Mutex
		reported := 0
		r := p.newRig(o, Setup{OnError: func(error) {
			mu.Lock()
			defer mu.Unlock()
			reported++
		}})
		defer r.close()
		r.startSynced()
		r.server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.FailAfterEvents(1, apierrors.NewInternalError(apierrors.NewBadRequest("no")))})
		r.server.EndWatches("")
		r.create("a", "b")
		r.settle()
		p.must(reported > 0, "OnError was not called")
	}},
	{"waits do not become short under constant failure", func(p *caseT, o maker) { // D8, RC-3
		r := p.newRig(o, Setup{})
		defer r.close()
		var mu sync.Mutex
		var asked []time.Time
		r.server.Inject(apitest.Fault{Action: apitest.Code(500, 0), Match: func(apitest.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, time.Now())
			return true
		}})
		r.start()
		time.Sleep(time.Hour)
		r.stop()
		p.must(len(asked) > 20, "the informer sent %d requests in an hour", len(asked))
		for n := len(asked) / 2; n < len(asked); n++ {
			wait := asked[n].Sub(asked[n-1])
			p.must(wait > 5*time.Second || o.watchList && wait == 0, "before request %d of %d the informer waited %v", n, len(asked), wait)
		}
	}},
}
