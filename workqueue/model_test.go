package workqueue_test

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kinform/kinform/workqueue"
)

// model is a queue in its simplest form: slices, no concurrency, no timer. It computes states
// instead of storing them where possible.
type model struct {
	interval time.Duration
	ageing   int // 0 for no ageing
	weights  []int

	now        time.Duration
	keys       map[byte]*modelKey
	ready      []byte // in the order of becoming ready at their priorities
	processing []byte
	// by priority: the groups with ready keys, in the order in which they are served
	rings  map[int][]modelGroup
	waits  map[int]int // by priority: the number of the run that served it last
	served int
	passed int
	shut   bool

	waiting int    // Gets that are blocked
	handed  []byte // keys handed out since the last step
	over    int    // Gets that the last step ended
}

type modelGroup struct{ group, credit int }

type modelKey struct {
	due, running, delayed *modelWork
	at                    time.Duration // end of the delay
	cool                  time.Duration // no run before this time
	parked                int
	failures              int
}

const never = time.Duration(1<<63 - 1)

// modelWork is immutable.
type modelWork struct {
	priority int
	causes   workqueue.Causes
}

// The method named "and" returns the combined work of two adds. The argument other is the later
// add.
func (w *modelWork) and(other *modelWork) *modelWork {
	if w == nil {
		return other
	}
	return &modelWork{
		priority: max(w.priority, other.priority),
		causes: workqueue.Causes{
			First: cmp.Or(w.causes.First, other.causes.First),
			Last:  cmp.Or(other.causes.Last, w.causes.Last),
			Count: w.causes.Count + other.causes.Count,
		},
	}
}

func newModel() model {
	return model{keys: make(map[byte]*modelKey), rings: make(map[int][]modelGroup), waits: make(map[int]int)}
}

func (m *model) key(key byte) *modelKey {
	if m.keys[key] == nil {
		m.keys[key] = new(modelKey)
	}
	return m.keys[key]
}

func (m *model) group(key byte) int {
	if m.weights == nil {
		return 0
	}
	return int(key) % len(m.weights)
}

func (m *model) weight(group int) int {
	if m.weights == nil {
		return 1
	}
	return m.weights[group]
}

func (m *model) add(key byte, work *modelWork) {
	if m.shut {
		return
	}
	k := m.key(key)
	raised := k.due != nil && work.priority > k.due.priority
	if raised && slices.Contains(m.ready, key) {
		m.makeNotReady(key)
	}
	k.due = k.due.and(work)
	m.makeReady(key)
}

// makeReady makes the key ready if it should be ready and is not.
func (m *model) makeReady(key byte) {
	k := m.key(key)
	cooling := k.cool > m.now && !m.shut
	if k.due == nil || k.parked > 0 || cooling || slices.Contains(m.processing, key) || slices.Contains(m.ready, key) {
		return
	}
	priority, group := k.due.priority, m.group(key)
	if len(m.rings[priority]) == 0 {
		m.waits[priority] = m.served
	}
	if !slices.ContainsFunc(m.rings[priority], func(l modelGroup) bool { return l.group == group }) {
		m.rings[priority] = append(m.rings[priority], modelGroup{group, m.weight(group)})
	}
	m.ready = append(m.ready, key)
}

// makeNotReady removes a key from the ready keys.
func (m *model) makeNotReady(key byte) {
	priority, group := m.keys[key].due.priority, m.group(key)
	m.ready = slices.DeleteFunc(m.ready, func(other byte) bool { return other == key })
	if m.first(priority, group) < 0 {
		m.rings[priority] = slices.DeleteFunc(m.rings[priority], func(l modelGroup) bool { return l.group == group })
	}
	if len(m.rings[priority]) == 0 {
		delete(m.rings, priority)
	}
}

// first returns the index in ready of the first key of a group and priority, or -1.
func (m *model) first(priority, group int) int {
	return slices.IndexFunc(m.ready, func(key byte) bool {
		return m.keys[key].due.priority == priority && m.group(key) == group
	})
}

func (m *model) take() byte {
	levels := slices.Sorted(maps.Keys(m.rings))
	slices.Reverse(levels)
	priority := levels[0]
	if len(levels) == 1 || m.ageing == 0 {
		m.passed = 0
	} else if m.passed++; m.passed == m.ageing {
		m.passed = 0
		priority = slices.MinFunc(levels, func(a, b int) int { return cmp.Compare(m.waits[a], m.waits[b]) })
	}
	m.served++
	m.waits[priority] = m.served

	ring := m.rings[priority]
	group := ring[0].group
	if ring[0].credit--; ring[0].credit == 0 {
		m.rings[priority] = append(slices.Clone(ring[1:]), modelGroup{group, m.weight(group)})
	}
	key := m.ready[m.first(priority, group)]
	m.makeNotReady(key)
	k := m.keys[key]
	k.running, k.due = k.due, nil
	if m.interval > 0 {
		k.cool = m.now + m.interval
	}
	m.processing = append(m.processing, key)
	return key
}

func (m *model) addLater(key byte, d time.Duration, mode workqueue.DelayMode, work *modelWork) {
	k := m.key(key)
	at := m.now + d
	switch {
	case m.shut:
	case d <= 0 && (mode == workqueue.Earliest || mode == workqueue.Latest && k.delayed == nil):
		m.add(key, work)
	case d <= 0 && mode == workqueue.Replace:
		k.delayed = nil
		m.add(key, work)
	case k.delayed == nil || mode == workqueue.Replace:
		k.at, k.delayed = at, work
	case mode == workqueue.Earliest:
		k.at, k.delayed = min(k.at, at), k.delayed.and(work)
	case mode == workqueue.Latest:
		k.at, k.delayed = max(k.at, at), k.delayed.and(work)
	}
}

func (m *model) retry(key byte) {
	k := m.key(key)
	d := min(time.Second<<min(k.failures, 3), 8*time.Second)
	k.failures++
	work := &modelWork{causes: workqueue.Causes{Count: 1}}
	if k.running != nil {
		work = k.running
	}
	m.addLater(key, d, workqueue.Earliest, work)
}

func (m *model) cancel(key byte) bool {
	k := m.key(key)
	if k.due == nil && k.delayed == nil {
		return false
	}
	if slices.Contains(m.ready, key) {
		m.makeNotReady(key)
	}
	k.due, k.delayed = nil, nil
	return true
}

func (m *model) park(key byte) {
	if m.shut {
		if slices.Contains(m.ready, key) {
			m.makeNotReady(key)
		}
		m.key(key).due = nil
		return
	}
	if slices.Contains(m.ready, key) {
		m.makeNotReady(key)
	}
	m.key(key).parked++
}

func (m *model) unpark(key byte) {
	m.key(key).parked--
	m.makeReady(key)
}

func (m *model) done(key byte) {
	i := slices.Index(m.processing, key)
	if i < 0 {
		return
	}
	m.processing = slices.Delete(m.processing, i, i+1)
	m.key(key).running = nil
	m.makeReady(key)
}

// advance lets time pass: keys become ready one after the other, when they are due or their
// interval ends.
func (m *model) advance(now time.Duration) {
	for {
		key, at := m.next()
		if at > now {
			break
		}
		m.now = at
		k := m.keys[key]
		if k.delayed != nil && k.at <= at {
			work := k.delayed
			k.delayed = nil
			m.add(key, work)
		}
		if k.cool <= at {
			k.cool = 0
		}
		m.makeReady(key)
		m.handOut()
	}
	m.now = now
}

// next returns the key with the next event, and its time.
func (m *model) next() (next byte, at time.Duration) {
	at = never
	for key, k := range m.keys {
		if k.delayed != nil && k.at < at {
			next, at = key, k.at
		}
		if k.cool > 0 && k.cool < at {
			next, at = key, k.cool
		}
	}
	return next, at
}

func (m *model) shutDown() {
	if m.shut {
		return
	}
	m.shut = true
	cooled := func(a, b byte) int { return cmp.Compare(m.keys[a].cool, m.keys[b].cool) }
	for _, key := range slices.SortedFunc(maps.Keys(m.keys), cooled) {
		k := m.keys[key]
		k.delayed, k.cool = nil, 0
		if k.parked > 0 {
			k.due = nil
		}
		m.makeReady(key)
	}
	for _, k := range m.keys {
		if k.parked > 0 { // the waits end with the context
			k.due, k.parked = nil, 0
		}
	}
}

// handOut removes from the blocked Gets the calls that can get a key.
func (m *model) handOut() {
	for m.waiting > 0 && len(m.ready) > 0 {
		m.handed = append(m.handed, m.take())
		m.waiting--
	}
	if m.shut {
		m.over, m.waiting = m.over+m.waiting, 0
	}
}

func (m *model) drained() bool { return m.shut && len(m.ready) == 0 && len(m.processing) == 0 }

// states returns the expected result of Inspect, without times and in the order of keys.
func (m *model) states() []workqueue.KeyState[byte] {
	var states []workqueue.KeyState[byte]
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		k := m.keys[key]
		if k.due == nil && k.running == nil && k.delayed == nil && k.parked == 0 {
			continue
		}
		state := workqueue.KeyState[byte]{
			Key:        key,
			Processing: k.running != nil,
			Dirty:      k.due != nil,
			Ready:      slices.Contains(m.ready, key),
			Parked:     k.parked > 0,
			Retries:    k.failures,
		}
		if turn := cmp.Or(k.due, k.running, k.delayed); turn != nil {
			state.Priority, state.Causes = turn.priority, turn.causes
		}
		states = append(states, state)
	}
	return states
}
