package events

import (
	"container/heap"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	minUpdateInterval = 10 * time.Second // between the first two requests about a series
	maxUpdateInterval = 5 * time.Minute  // the longest interval between two requests about a series
	seriesTimeout     = 6 * time.Minute  // a series ends after this time without another event
	maxUnsentAge      = time.Hour        // an event that could not be sent for this long is dropped

	similarNotes  = 10 // different notes that have Events of their own
	similarWindow = 10 * time.Minute
	similarPrefix = "(combined from similar events): "
)

// group has the fields that events with different notes share.
type group struct {
	regarding, related   corev1.ObjectReference // without a resourceVersion
	kind, reason, action string
}

// series is one Event on the server, or an Event that Run has yet to create. Its events share a
// group and, unless the series is combined, a note.
type series struct {
	group        *group // shared with other series, and immutable
	combined     bool   // of several notes; the field note is the first of them, with a prefix
	note         string
	hash         uint64
	nextSameHash *series // the next series of this hash
	version      string  // resourceVersion of the object
	annotations  map[string]string

	name    string // name of the Event
	created bool   // the server has the Event
	stored  string // resourceVersion of the Event, "" if unknown
	tried   bool   // a request to create the Event under this name had no response

	total, sent uint64 // number of all events, and of events that the server has counted
	first, last time.Time

	// when the next request is due or, without unsent events, when the series ends
	dueAt          time.Time
	lastResponseAt time.Time     // when the last response came
	updateInterval time.Duration // from lastResponseAt to the next request
	failures       int
	since          time.Time // when the first unsent event was recorded

	heapIndex int         // index in heap
	heap      *seriesHeap // nil while it is being sent
}

// seriesHeap is a heap of series, ordered by their times.
type seriesHeap []*series

func (p seriesHeap) Len() int           { return len(p) }
func (p seriesHeap) Less(i, j int) bool { return p[i].dueAt.Before(p[j].dueAt) }
func (p seriesHeap) Swap(i, j int) {
	p[i], p[j] = p[j], p[i]
	p[i].heapIndex, p[j].heapIndex = i, j
}

// Push implements heap.Interface. Call add instead.
func (p *seriesHeap) Push(s any) {
	s.(*series).heapIndex = len(*p)
	*p = append(*p, s.(*series))
}

// Pop implements heap.Interface. Call remove instead.
func (p *seriesHeap) Pop() any {
	last := len(*p) - 1
	s := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return s
}

func (p *seriesHeap) add(s *series, at time.Time) {
	s.dueAt, s.heap = at, p
	heap.Push(p, s)
}

// remove removes a series from its heap, if it is in one.
func (s *series) remove() {
	if s.heap != nil {
		heap.Remove(s.heap, s.heapIndex)
		s.heap = nil
	}
}

// addLocked counts an event. It reports whether Run must be woken.
func (r *Recorder) addLocked(g *group, note string, h hashes, version string, annotations map[string]string, now time.Time) (wake bool) {
	r.stats.Recorded++
	if r.state == ended {
		return r.dropLocked(Ended, 1)
	}
	s := r.findLocked(g, note, false, h.withNote, now)
	// If there is no room for a new series, the Recorder drops the event, and keeps no part of it.
	room := r.count < r.opts.MaxSeries
	full := !room && len(r.idle) == 0
	var kept *group // g itself stays on the stack
	combined := false
	if s == nil {
		if kept, combined = r.countNoteLocked(g, h.group, !full, now); combined {
			s = r.findLocked(g, "", true, h.combined, now)
		}
	}
	if s == nil {
		if full {
			return r.dropLocked(Full, 1)
		}
		if !r.takeTokenLocked(g.regarding, h.object, now) {
			return r.dropLocked(Throttled, 1)
		}
		if !room { // Forget the idle series that would end first.
			r.forgetLocked(r.idle[0])
		}
		s = &series{group: kept, hash: h.withNote, version: version, annotations: annotations, first: now}
		if combined {
			s.combined, s.hash, s.note = true, h.combined, limitText(similarPrefix+note, maxNote)
		} else {
			s.note = strings.Clone(note) // It may be a part of a longer text.
		}
		s.nextSameHash, r.known[s.hash] = r.known[s.hash], s
		r.count++
		r.nameLocked(s, now)
		r.unsent.add(s, now)
		wake = s.heapIndex == 0
	}
	r.stats.Waiting++
	if s.total == s.sent {
		s.since = now
	}
	s.total++
	s.last = now
	if s.heap == &r.idle {
		s.remove()
		r.unsent.add(s, r.dueLocked(s, now))
		wake = s.heapIndex == 0
	}
	return wake
}

// dueLocked returns when the next request about a series is due.
func (r *Recorder) dueLocked(s *series, now time.Time) time.Time {
	if at := s.lastResponseAt.Add(s.updateInterval); at.After(now) && r.state != flushing {
		return at
	}
	return now
}

// findLocked returns the open series of a group and a note, or the group's series of combined
// notes.
func (r *Recorder) findLocked(g *group, note string, combined bool, hash uint64, now time.Time) *series {
	s := r.known[hash]
	for s != nil && (s.combined != combined || !combined && s.note != note || *s.group != *g) {
		s = s.nextSameHash
	}
	if s != nil && s.heap == &r.idle && !now.Before(s.dueAt) {
		// The series has ended, but Run has not forgotten it yet.
		r.forgetLocked(s)
		return nil
	}
	return s
}

// countNoteLocked reports whether a group has too many different notes for one more, so that the
// event must be combined with others. If count is true, it counts the note, and returns the group
// to keep.
func (r *Recorder) countNoteLocked(g *group, hash uint64, count bool, now time.Time) (known *group, tooMany bool) {
	if !count {
		notes := r.groups.peek(hash, g)
		return nil, notes != nil && now.Sub(notes.since) < similarWindow && notes.n >= similarNotes
	}
	known, notes := r.groups.get(hash, g)
	if notes.since.IsZero() || now.Sub(notes.since) >= similarWindow {
		*notes = noteCount{since: now}
	}
	notes.n++
	return known, notes.n > similarNotes
}

// noteCount is the number of different notes of a group since the time since.
type noteCount struct {
	since time.Time
	n     int
}

// bucket is a token bucket for the Events about one object.
type bucket struct {
	tokens float64
	at     time.Time
}

// takeTokenLocked takes a token from the bucket of an object. It returns false if no token is left.
func (r *Recorder) takeTokenLocked(object corev1.ObjectReference, hash uint64, now time.Time) bool {
	object.FieldPath = "" // FieldPath names a container, but the limit is per pod.
	_, b := r.buckets.get(hash, &object)
	most := float64(r.opts.Burst)
	if b.at.IsZero() {
		b.tokens = most
	} else {
		b.tokens = min(b.tokens+float64(now.Sub(b.at))/float64(r.opts.Interval), most)
	}
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func (r *Recorder) forgetLocked(s *series) {
	s.remove()
	removeFromChain(r.known, s.hash, s, func(s *series) **series { return &s.nextSameHash })
	r.count--
}

// nameLocked assigns the name of a new Event to a series. The name consists of the object's name
// and a time, which is different in each name from this Recorder.
func (r *Recorder) nameLocked(s *series, now time.Time) {
	r.lastNameTime = max(r.lastNameTime+1, now.UnixNano())
	s.name, s.created, s.stored, s.tried = nameOf(s.group.regarding.Name, r.lastNameTime), false, "", false
}

// dropLocked counts dropped events. It returns true, because Run must be woken to log them.
func (r *Recorder) dropLocked(reason DropReason, n uint64) bool {
	r.stats.Dropped[reason] += n
	return true
}

// dropSeriesLocked drops the unsent events of a series, and forgets the series.
func (r *Recorder) dropSeriesLocked(s *series, reason DropReason) {
	r.stats.Waiting -= s.total - s.sent
	r.dropLocked(reason, s.total-s.sent)
	r.forgetLocked(s)
}

// nameOf returns the name of an Event. Names of some objects, such as ClusterRoles, have characters
// that are invalid in the name of an Event.
func nameOf(object string, at int64) string {
	const hex = "0123456789abcdef"
	var suffix [17]byte
	suffix[0] = '.'
	for i := len(suffix) - 1; i > 0; i-- {
		suffix[i] = hex[at&15]
		at >>= 4
	}
	name := []byte(strings.ToLower(object))
	name = name[:min(len(name), maxReference-len(suffix))]
	alphanumeric := func(i int) bool {
		return i >= 0 && i < len(name) && (name[i] >= 'a' && name[i] <= 'z' || name[i] >= '0' && name[i] <= '9')
	}
	for i, c := range name {
		if !alphanumeric(i) && (c != '.' || !alphanumeric(i-1) || !alphanumeric(i+1)) {
			name[i] = '-'
		}
	}
	stem := strings.Trim(string(name), "-.")
	if stem == "" {
		stem = "x"
	}
	return stem + string(suffix[:])
}
