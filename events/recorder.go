package events

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/rest"
)

// Recorder records events. A Recorder is safe for concurrent use. A nil Recorder records nothing,
// so tests of code that records events need no Recorder.
type Recorder struct {
	controller string
	opts       Options
	server     server
	sink       *Sink    // replaces the server
	kinds      sync.Map // from a reflect.Type to its schema.GroupVersionKind
	wake       chan struct{}
	seed       maphash.Seed
	mask       uint64 // for all hashes; a test sets the mask so that hashes collide

	mu           sync.Mutex // guards following; no holder of it blocks
	state        state
	known        map[uint64]*series // the first series of each hash
	count        int                // number of known series
	unsent       seriesHeap         // series that wait for their time to be sent
	idle         seriesHeap         // series without unsent events
	groups       *table[group, noteCount]
	buckets      *table[corev1.ObjectReference, bucket]
	lastNameTime int64 // the time in the last Event name
	stats        Stats

	// Only Run uses the following fields.
	reported      [numDropReasons]uint64 // the value of stats.Dropped that was logged last
	dropLogs      [numDropReasons]logthrottle.Throttle
	failureLog    logthrottle.Throttle
	failureStreak int       // failed requests in a row
	pausedUntil   time.Time // Run sends nothing until then
	lastRefusal   error     // the last refusal of the server
}

// state is the state of a Recorder's Run.
type state uint8

const (
	notStarted state = iota
	running          // Run sends
	flushing         // the context of Run has ended
	ended            // Run has returned
)

// New returns a Recorder for the events of a controller. The controller has a name like
// "example.com/websites". New sends nothing, and starts no goroutine; [Recorder.Run] sends.
//
// The client needs the verbs create and patch for events of the group events.k8s.io or, with
// Options.CoreV1, of the core group. The client needs these verbs in the namespaces of the objects,
// and in "default" for objects without a namespace.
func New(client *rest.Client, controller string, opts Options) (*Recorder, error) {
	opts, err := opts.withDefaults(controller)
	if err == nil {
		err = opts.validate(controller)
	}
	if err != nil {
		return nil, err
	}
	opts.Observer = opts.Observer.contained(&contain.Hooks{Logger: opts.Logger, Attrs: []any{"controller", controller}})
	server, err := newServer(client, controller, opts)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &Recorder{
		controller: controller, opts: opts, server: server, wake: make(chan struct{}, 1),
		seed: maphash.MakeSeed(), mask: math.MaxUint64,
		known: map[uint64]*series{}, groups: newTable[group, noteCount](opts.MaxSeries),
		buckets: newTable[corev1.ObjectReference, bucket](4 * opts.MaxSeries),
	}, nil
}

// Normal records an event of the type Normal about an object. note and args are formatted as by
// fmt.Sprintf, before Normal returns. Normal keeps neither object nor args. reason is one word, and
// also becomes the action; see [Event] for more.
func (r *Recorder) Normal(object metav1.Object, reason, note string, args ...any) {
	if r != nil {
		r.Record(Event{Object: object, Type: corev1.EventTypeNormal, Reason: reason, Note: fmt.Sprintf(note, args...)})
	}
}

// Warning is Normal for an event of the type Warning.
func (r *Recorder) Warning(object metav1.Object, reason, note string, args ...any) {
	if r != nil {
		r.Record(Event{Object: object, Type: corev1.EventTypeWarning, Reason: reason, Note: fmt.Sprintf(note, args...)})
	}
}

// Record records an event. An invalid event, such as an event about a nil object, is counted as
// dropped.
func (r *Recorder) Record(e Event) {
	if r == nil {
		return
	}
	valid := e.complete()
	if e.Object != nil {
		var known bool
		e.Regarding, known = r.reference(e.Object)
		valid = valid && known
		e.Object = nil
	}
	valid = validReference(&e.Regarding) && valid
	if e.Related != (corev1.ObjectReference{}) {
		valid = validReference(&e.Related) && valid
	}
	if len(e.Annotations) > 0 {
		e.Annotations = maps.Clone(e.Annotations)
	}
	switch {
	case r.sink != nil:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stats.Recorded++
		switch {
		case !valid:
			r.stats.Dropped[Invalid]++
		case !r.sink.add(e):
			r.stats.Dropped[Full]++
		default:
			r.stats.Sent++
		}
	case r.addEvent(&e, valid):
		select {
		case r.wake <- struct{}{}:
		default: // Run will check, because the channel has a token already.
		}
	}
}

// addEvent counts an event, and reports whether Run must be woken.
func (r *Recorder) addEvent(e *Event, valid bool) (wake bool) {
	version := e.Regarding.ResourceVersion
	e.Regarding.ResourceVersion, e.Related.ResourceVersion = "", ""
	g := group{e.Regarding, e.Related, e.Type, e.Reason, e.Action}
	h := r.hash(&g, e.Note)
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !valid {
		r.stats.Recorded++
		return r.dropLocked(Invalid, 1)
	}
	return r.addLocked(&g, e.Note, h, version, e.Annotations, now)
}
