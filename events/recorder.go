package events

import (
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/remind"
	"github.com/kinform/kinform/rest"
)

// Recorder records events. It is safe for concurrent use. A nil Recorder is one that
// records nothing, so that what is tested alone needs none.
type Recorder struct {
	controller string
	opts       Options
	server     server
	sink       *Sink    // instead of a server
	kinds      sync.Map // from a reflect.Type to its schema.GroupVersionKind
	wake       chan struct{}

	mu      sync.Mutex // guards following, and is never held while anything is waited for
	state   state
	known   map[identity]*series
	waiting pile // for their time to be sent
	idle    pile // all of these is sent
	groups  table[group, noteCount]
	buckets table[corev1.ObjectReference, bucket]
	named   int64 // the time in the last name
	stats   Stats

	// For Run alone.
	told    [drops]uint64 // of stats.Dropped
	drops   [drops]remind.Reminder
	trouble remind.Reminder
	streak  int       // of requests that failed
	pause   time.Time // until then nothing is sent
	last    error     // why the server refused an event
}

// state is how far a Recorder is.
type state uint8

const (
	fresh    state = iota
	running        // Run sends
	flushing       // the context of Run has ended
	ended          // Run has
)

// New returns a Recorder for the events of a controller, whose name is one like
// "example.com/websites". It sends nothing, and starts no goroutine: that is [Recorder.Run].
//
// The client needs the rights to create and patch events, of the group events.k8s.io or, with
// Options.CoreV1, of that without a name, in the namespaces of the objects, and in "default" for objects
// that have no namespace.
func New(client *rest.Client, controller string, opts Options) (*Recorder, error) {
	opts, err := opts.withDefaults(controller)
	if err == nil {
		err = opts.validate(controller)
	}
	if err != nil {
		return nil, err
	}
	server, err := newServer(client, controller, opts)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return &Recorder{
		controller: controller, opts: opts, server: server, wake: make(chan struct{}, 1),
		known: map[identity]*series{}, groups: newTable[group, noteCount](opts.MaxSeries),
		buckets: newTable[corev1.ObjectReference, bucket](4 * opts.MaxSeries),
	}, nil
}

// Normal records that something happened as it should. The note is formatted as by
// fmt.Sprintf, before Normal returns; object and args are not kept. reason is in one word, and
// is the action as well; see [Event] for more.
func (r *Recorder) Normal(object metav1.Object, reason, note string, args ...any) {
	if r != nil {
		r.Record(Event{Object: object, Type: corev1.EventTypeNormal, Reason: reason, Note: fmt.Sprintf(note, args...)})
	}
}

// Warning is Normal for what is not as it should be.
func (r *Recorder) Warning(object metav1.Object, reason, note string, args ...any) {
	if r != nil {
		r.Record(Event{Object: object, Type: corev1.EventTypeWarning, Reason: reason, Note: fmt.Sprintf(note, args...)})
	}
}

// Record records an event. One that makes no sense, such as one about a nil object, is counted
// as dropped.
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
	valid = useful(&e.Regarding) && valid
	if e.Related != (corev1.ObjectReference{}) {
		valid = useful(&e.Related) && valid
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
	case r.take(e, valid):
		select {
		case r.wake <- struct{}{}:
		default: // Run will look anyway
		}
	}
}

// take counts an event, and reports whether Run has to look.
func (r *Recorder) take(e Event, valid bool) (look bool) {
	version := e.Regarding.ResourceVersion
	e.Regarding.ResourceVersion, e.Related.ResourceVersion = "", ""
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !valid {
		r.stats.Recorded++
		return r.dropLocked(Invalid, 1)
	}
	id := identity{group: group{e.Regarding, e.Related, e.Type, e.Reason, e.Action}, note: e.Note}
	return r.addLocked(id, version, e.Annotations, now)
}
