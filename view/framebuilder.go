package view

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/kinform/kinform/reflector"
)

// frameBuilder makes the frames of one pipeline: an informer and its queues. All viewers of the
// pipeline share the frames. The first viewer that needs a frame makes it.
type frameBuilder struct {
	view *View
	name string

	serverRequest chan struct{} // held by the request that may call the server; guards following
	sample        []serverSizes
	sampledAt     time.Duration // 0: never

	mu       sync.Mutex // guards following
	tick     uint64     // tick of the last frame
	frame    *Frame
	line     []byte
	meters   map[*recorder]*meter
	queues   []*queueEntry
	viewers  int
	events   uint64 // number of events up to the last frame
	eventsAt time.Duration
	cost     Cost
	lag      lagTracker
	sizes    sizeEstimate
}

// meter keeps data of earlier frames for one recorder: for rates, quantiles and events.
type meter struct {
	eventsRead uint64
	counters   []counterSample // the counters of each frame of the last second
	windows    map[*histogram]*window
}

// counterSample holds the counters at one time.
type counterSample struct {
	at     time.Duration
	values map[string]float64
}

// addViewer is called for a new viewer, before the pipeline's recorders record events. If there
// were no viewers, it drops the data of earlier viewers, because that data is old.
func (p *frameBuilder) addViewer(recs []*recorder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.viewers++; p.viewers == 1 {
		p.meters, p.eventsAt = nil, 0
	}
	for _, rec := range recs {
		p.meterLocked(rec)
	}
}

func (p *frameBuilder) removeViewer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.viewers--
}

// hello describes the frames.
func (p *frameBuilder) hello() *Hello {
	h := &Hello{
		Version: FormatVersion, Title: clean(p.view.opts.Title), Name: p.name,
		Start: p.view.start.UnixMilli(), FrameInterval: p.view.opts.FrameInterval.Milliseconds(), Boxes: boxes,
	}
	for _, r := range numbers {
		h.Numbers = append(h.Numbers, r.Number)
	}
	if p.view.opts.Laboratory != nil {
		h.Actions = p.view.opts.Laboratory.Actions()
	}
	return h
}

// frameAt(tick) returns the frame of the given tick, and its encoded line. If a later frame exists
// already, it returns the later frame.
func (p *frameBuilder) frameAt(tick uint64) (*Frame, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frame != nil && p.tick >= tick {
		return p.frame, p.line
	}
	began := time.Now()
	p.frame, p.tick = p.buildLocked(tick, began), tick
	p.line, _ = json.Marshal(Line{Frame: p.frame}) // cannot fail, because all numbers are finite
	took := time.Since(began)
	p.cost.Building, p.cost.Bytes = took.Seconds(), len(p.line)
	share := 100 * took.Seconds() / p.view.opts.FrameInterval.Seconds()
	p.cost.Share += (share - p.cost.Share) / 10
	return p.frame, p.line
}

func (p *frameBuilder) buildLocked(tick uint64, now time.Time) *Frame {
	v := p.view
	since := now.Sub(v.start)
	f := &Frame{Seq: tick, At: milliseconds(since), Scale: 1, Cost: p.cost}
	f.Cost.Viewers = int(v.viewers.Load())
	var server Server
	if v.opts.Server != nil {
		server = v.opts.Server()
	}
	of, queues := v.entriesOf(p)
	var sample []recordedEvent
	if of != nil {
		sample = p.informerLocked(f, of, server, since, sample)
	}
	f.Keys = map[string]Keys{}
	p.queues = queues
	for _, q := range queues {
		sample = p.queueLocked(f, q, since, sample)
	}
	f.Events = events(sample, now)
	p.rescaleLocked(f, of, since)
	if v.opts.Laboratory != nil {
		f.Laboratory = v.opts.Laboratory.State()
	}
	if c, ok := v.opts.Laboratory.(Comparer); ok {
		f.Comparison = c.Comparison()
	}
	return f
}

// informerLocked adds the boxes of an informer.
func (p *frameBuilder) informerLocked(f *Frame, of *informerEntry, server Server, since time.Duration, sample []recordedEvent) []recordedEvent {
	s := &boxData{informer: of.status(), server: server, traffic: p.view.traffic(), rec: of.rec, now: int64(since), lag: &p.lag}
	s.size = func() (float64, bool) { return p.sizes.bytes(of.store, s.informer.Store.Objects, since) }
	p.lag.record(server.ResourceVersion, since)
	m := p.meterLocked(s.rec)
	for _, id := range []string{"server", "reflector", "fifo", "store", "handlers"} {
		box := m.box(id, s, since)
		box.Name = p.name
		f.Boxes = append(f.Boxes, box)
	}
	m.dropOldCounters(since)
	st := s.informer
	f.Boxes[0].State = clean(server.ResourceVersion)
	f.Boxes[1].State = phaseOf(st.Reflector)
	f.Versions = Versions{
		Server: clean(server.ResourceVersion), Oldest: clean(server.Oldest), Reflector: clean(st.Reflector.ResourceVersion),
		Fifo: clean(st.Queue.ResourceVersion), Store: clean(st.Store.ResourceVersion),
	}
	for _, h := range st.Handlers {
		shown := Handler{Name: clean(h.Name), Synced: h.Synced, Waiting: h.Waiting, Oldest: h.Oldest.Seconds(),
			Delivered: h.Delivered, Coalesced: h.Coalesced, Panics: h.Panics}
		if times := s.rec.timesOf(h.Name); times != nil {
			shown.Wait, shown.Run = m.times(since, &times.wait), m.times(since, &times.run)
		}
		f.Handlers = append(f.Handlers, shown)
	}
	f.Indexes = indexesOf(st.Store.Indexes)
	f.Problems = problemsOf(st)
	return m.sample(s.rec, f, sample, "")
}

// queueLocked adds the boxes of a queue.
func (p *frameBuilder) queueLocked(f *Frame, q *queueEntry, since time.Duration, sample []recordedEvent) []recordedEvent {
	s := &boxData{queue: q.stats(), rec: q.rec, now: int64(since)}
	if q.limits != nil {
		s.limits = q.limits()
	}
	m := p.meterLocked(q.rec)
	for _, id := range []string{"queue", "workers"} {
		box := m.box(id, s, since)
		box.Name = q.name
		f.Boxes = append(f.Boxes, box)
	}
	m.dropOldCounters(since)
	if s.queue.ShuttingDown {
		f.Boxes[len(f.Boxes)-2].State = "shutting down"
	}
	seen := q.inspect(s.queue)
	keys := Keys{All: countKeys(s.queue), List: seen.list}
	if l := s.limits; l.Burst > 0 || l.Base > 0 {
		keys.Limits = &Limits{BaseWait: l.Base.Seconds(), MaxWait: l.Longest.Seconds(), Burst: l.Burst, PerSecond: l.PerSecond, Tokens: l.Tokens}
	}
	for _, l := range s.queue.Levels {
		keys.Levels = append(keys.Levels, PriorityLevel{l.Priority, l.Ready})
	}
	f.Keys[q.name] = keys
	f.Problems = append(f.Problems, queueProblems(s.queue, seen, q.rec)...)
	return m.sample(q.rec, f, sample, q.name)
}

func (p *frameBuilder) meterLocked(rec *recorder) *meter {
	if p.meters == nil {
		p.meters = map[*recorder]*meter{}
	}
	m := p.meters[rec]
	if m == nil {
		m = &meter{eventsRead: rec.ring.newest(), windows: map[*histogram]*window{}}
		p.meters[rec] = m
	}
	return m
}

// box computes the numbers of a box.
func (m *meter) box(id string, s *boxData, since time.Duration) Box {
	b := Box{ID: id, Numbers: map[string]float64{}, Rates: map[string]float64{}, Times: map[string]Times{}}
	if len(m.counters) == 0 || m.counters[len(m.counters)-1].at != since {
		m.counters = append(m.counters, counterSample{since, map[string]float64{}})
	}
	now, first := m.counters[len(m.counters)-1], m.counters[0]
	for _, r := range numbers {
		if r.Box != id {
			continue
		}
		if r.histograms != nil {
			b.Times[r.ID] = m.times(since, r.histograms(s.rec)...)
			continue
		}
		value, known := r.value(s)
		if !known {
			continue
		}
		b.Numbers[r.ID] = value
		if r.Kind != "counter" {
			continue
		}
		name := id + "." + r.ID
		now.values[name] = value
		if before, ok := first.values[name]; ok && now.at > first.at {
			b.Rates[r.ID] = max(value-before, 0) / (now.at - first.at).Seconds()
		}
	}
	return b
}

// dropOldCounters drops the counters that are too old to compute rates.
func (m *meter) dropOldCounters(since time.Duration) {
	for len(m.counters) > 1 && since-m.counters[0].at > time.Second {
		m.counters = m.counters[1:]
	}
}

// times returns the quantiles over several histograms.
func (m *meter) times(since time.Duration, of ...*histogram) Times {
	var sum counts
	for _, h := range of {
		w := m.windows[h]
		if w == nil {
			w = &window{of: h}
			m.windows[h] = w
		}
		w.addTo(&sum, since)
	}
	return sum.times()
}

// sample appends the events since the previous frame to the slice to, and returns the slice.
func (m *meter) sample(rec *recorder, f *Frame, to []recordedEvent, of string) []recordedEvent {
	from := len(to)
	to, m.eventsRead = rec.ring.after(m.eventsRead, to)
	for i := range to[from:] {
		if of != "" {
			to[from+i].of = of
		}
	}
	f.Lost += rec.ring.keyQuota.lost.Swap(0)
	f.Scale = max(f.Scale, rec.mask.Load()+1)
	rec.ring.refill()
	return to
}

// sampledPerSecond is the approximate number of changes per second in the sample.
const sampledPerSecond = 60

// rescaleLocked adapts the share of objects in the sample to the rate of events since the last
// frame.
func (p *frameBuilder) rescaleLocked(f *Frame, of *informerEntry, since time.Duration) {
	var happened float64
	for _, b := range f.Boxes {
		switch b.ID {
		case "reflector":
			happened += b.Numbers["events"] + b.Numbers["listed"]
		case "handlers":
			happened += b.Numbers["delivered"]
		case "queue":
			happened += b.Numbers["adds"] + b.Numbers["merged"]
		}
	}
	passed := (since - p.eventsAt).Seconds()
	perSecond := max(happened-float64(p.events), 0) / max(passed, 0.001)
	first := p.eventsAt == 0
	p.events, p.eventsAt = uint64(happened), since
	if first {
		return
	}
	// Change one bit at a time, so that a short burst does not empty the picture.
	mask := f.Scale - 1
	const most = 3 * sampledPerSecond // a change has about three events: watch, call, add
	switch wanted := uint64(1)<<bits.Len64(uint64(perSecond)/most) - 1; {
	case wanted > mask:
		mask = mask<<1 | 1
	// The bounds differ by direction, so that the scale does not alternate at a bound. For a quiet
	// pipeline, the sample has every object.
	case wanted < mask>>1, wanted == 0 && perSecond < most/2:
		mask >>= 1
	}
	if of != nil {
		of.rec.mask.Store(mask)
	}
	for _, q := range p.queues {
		q.rec.mask.Store(mask)
	}
}

// phaseOf describes in a few words what the reflector is doing.
func phaseOf(s reflector.Status) string {
	switch s.Phase {
	case reflector.Listing, reflector.Streaming:
		if s.Total > 0 {
			return fmt.Sprintf("%v %d of %d", s.Phase, s.Items, s.Total)
		}
		return fmt.Sprintf("%v %d", s.Phase, s.Items)
	case reflector.BackingOff:
		return fmt.Sprintf("%v %.1f s", s.Phase, max(time.Until(s.NextRetry), 0).Seconds())
	}
	return s.Phase.String()
}
