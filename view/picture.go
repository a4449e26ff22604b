package view

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"github.com/kinform/kinform/reflector"
)

// picture makes the frames of one pipeline: an informer and its queues. All viewers of the pipeline
// share the frames. Each frame is made by the first viewer that asks for it.
type picture struct {
	view *View
	name string

	asking    chan struct{} // held by the request that may call the server; guards following
	sample    []served
	sampledAt time.Duration // 0: never

	mu      sync.Mutex // guards following
	tick    uint64     // tick of the last frame
	frame   *Frame
	line    []byte
	meters  map[*recorder]*meter
	queues  []*queuePart
	lookers int
	events  uint64 // number of events until the last frame, for the scale
	when    time.Duration
	cost    Cost
	behind  behind
	sizes   sizes
}

// meter keeps data of earlier frames for one recorder: for rates, quantiles and events.
type meter struct {
	seen    uint64
	past    []count // the counters of each frame of the last second
	windows map[*histogram]*window
}

// count holds the counters at one time.
type count struct {
	at     time.Duration
	values map[string]float64
}

// begin is called for a new viewer, before the recorders of the picture record events. It drops
// data from the time of earlier viewers, because that data is old.
func (p *picture) begin(recs []*recorder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lookers++; p.lookers == 1 {
		p.meters, p.when = nil, 0
	}
	for _, rec := range recs {
		p.meterLocked(rec)
	}
}

func (p *picture) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lookers--
}

// hello describes the frames.
func (p *picture) hello() *Hello {
	h := &Hello{
		Version: FormatVersion, Title: clean(p.view.opts.Title), Name: p.name,
		Start: p.view.start.UnixMilli(), Every: p.view.opts.Every.Milliseconds(), Boxes: boxes,
	}
	for _, r := range numbers {
		h.Numbers = append(h.Numbers, r.Number)
	}
	if p.view.opts.Laboratory != nil {
		h.Actions = p.view.opts.Laboratory.Actions()
	}
	return h
}

// at(tick) returns the frame of the given tick, and its encoded line. If a later frame exists
// already, it returns that frame.
func (p *picture) at(tick uint64) (*Frame, []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frame != nil && p.tick >= tick {
		return p.frame, p.line
	}
	began := time.Now()
	p.frame, p.tick = p.makeLocked(tick, began), tick
	p.line, _ = json.Marshal(Line{Frame: p.frame}) // cannot fail, because all numbers are finite
	took := time.Since(began)
	p.cost.Building, p.cost.Bytes = took.Seconds(), len(p.line)
	share := 100 * took.Seconds() / p.view.opts.Every.Seconds()
	p.cost.Share += (share - p.cost.Share) / 10
	return p.frame, p.line
}

func (p *picture) makeLocked(tick uint64, now time.Time) *Frame {
	v := p.view
	since := now.Sub(v.start)
	f := &Frame{Seq: tick, At: milliseconds(since), Scale: 1, Cost: p.cost}
	f.Cost.Viewers = int(v.viewers.Load())
	var server Server
	if v.opts.Server != nil {
		server = v.opts.Server()
	}
	of, queues := v.shown(p)
	var sample []noted
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
func (p *picture) informerLocked(f *Frame, of *informerPart, server Server, since time.Duration, sample []noted) []noted {
	s := &snapshot{informer: of.status(), server: server, traffic: p.view.traffic(), rec: of.rec, now: int64(since), behind: &p.behind}
	s.size = func() (float64, bool) { return p.sizes.bytes(of.store, s.informer.Store.Objects, since) }
	p.behind.note(server.ResourceVersion, since)
	m := p.meterLocked(s.rec)
	for _, id := range []string{"server", "reflector", "fifo", "store", "handlers"} {
		box := m.box(id, s, since)
		box.Name = p.name
		f.Boxes = append(f.Boxes, box)
	}
	m.keep(since)
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
	f.Wrong = wrongOf(st)
	return m.sample(s.rec, f, sample, "")
}

// queueLocked adds the boxes of a queue.
func (p *picture) queueLocked(f *Frame, q *queuePart, since time.Duration, sample []noted) []noted {
	s := &snapshot{queue: q.stats(), rec: q.rec, now: int64(since)}
	if q.limits != nil {
		s.limits = q.limits()
	}
	m := p.meterLocked(q.rec)
	for _, id := range []string{"queue", "workers"} {
		box := m.box(id, s, since)
		box.Name = q.name
		f.Boxes = append(f.Boxes, box)
	}
	m.keep(since)
	if s.queue.ShuttingDown {
		f.Boxes[len(f.Boxes)-2].State = "shutting down"
	}
	seen := q.inspect(s.queue)
	keys := Keys{All: allKeys(s.queue), List: seen.list}
	if l := s.limits; l.Burst > 0 || l.Base > 0 {
		keys.Limits = &Limits{Base: l.Base.Seconds(), Longest: l.Longest.Seconds(), Burst: l.Burst, PerSecond: l.PerSecond, Tokens: l.Tokens}
	}
	for _, l := range s.queue.Levels {
		keys.Levels = append(keys.Levels, Level{l.Priority, l.Ready})
	}
	f.Keys[q.name] = keys
	f.Wrong = append(f.Wrong, wrongOfQueue(s.queue, seen, q.rec)...)
	return m.sample(q.rec, f, sample, q.name)
}

func (p *picture) meterLocked(rec *recorder) *meter {
	if p.meters == nil {
		p.meters = map[*recorder]*meter{}
	}
	m := p.meters[rec]
	if m == nil {
		m = &meter{seen: rec.ring.newest(), windows: map[*histogram]*window{}}
		p.meters[rec] = m
	}
	return m
}

// box computes the numbers of a box.
func (m *meter) box(id string, s *snapshot, since time.Duration) Box {
	b := Box{ID: id, Numbers: map[string]float64{}, Rates: map[string]float64{}, Times: map[string]Times{}}
	if len(m.past) == 0 || m.past[len(m.past)-1].at != since {
		m.past = append(m.past, count{since, map[string]float64{}})
	}
	now, first := m.past[len(m.past)-1], m.past[0]
	for _, r := range numbers {
		if r.Box != id {
			continue
		}
		if r.times != nil {
			b.Times[r.ID] = m.times(since, r.times(s.rec)...)
			continue
		}
		value, known := r.read(s)
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

// keep drops the counters that are too old to compute rates.
func (m *meter) keep(since time.Duration) {
	for len(m.past) > 1 && since-m.past[0].at > time.Second {
		m.past = m.past[1:]
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

// sample appends the events since the previous frame to its slice argument, and returns the slice.
func (m *meter) sample(rec *recorder, f *Frame, to []noted, of string) []noted {
	from := len(to)
	to, m.seen = rec.ring.after(m.seen, to)
	for i := range to[from:] {
		if of != "" {
			to[from+i].of = of
		}
	}
	f.Lost += rec.ring.room.lost.Swap(0)
	f.Scale = max(f.Scale, rec.mask.Load()+1)
	rec.ring.reopen()
	return to
}

// sampledPerSecond is the approximate number of changes per second in the sample.
const sampledPerSecond = 60

// rescaleLocked adapts the share of objects in the sample to the rate of events since the last
// frame.
func (p *picture) rescaleLocked(f *Frame, of *informerPart, since time.Duration) {
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
	passed := (since - p.when).Seconds()
	perSecond := max(happened-float64(p.events), 0) / max(passed, 0.001)
	first := p.when == 0
	p.events, p.when = uint64(happened), since
	if first {
		return
	}
	// Change one bit at a time, so that a short burst does not empty the picture.
	mask := f.Scale - 1
	const most = 3 * sampledPerSecond // a change has about three events: watch, call, add
	switch wanted := uint64(1)<<bits.Len64(uint64(perSecond)/most) - 1; {
	case wanted > mask:
		mask = mask<<1 | 1
	// Keep some hysteresis, so that the scale does not alternate at a bound. For a quiet pipeline,
	// the sample has every object.
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
