package differential

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/conformance"
)

// note is the part of a notification that is compared.
type note struct {
	what     conformance.EventType
	initial  bool // only for Added, as in client-go
	old, new string
}

func (n note) String() string {
	initial := ""
	if n.initial {
		initial = "initially "
	}
	return fmt.Sprintf("%s%s %s>%s", initial, n.what, n.old, n.new)
}

// notificationLog is a handler that records its notifications and all violations.
type notificationLog struct {
	strict bool          // reports a violation if a notification would have to be collapsed
	pace   time.Duration // how long each call takes

	mu         sync.Mutex                      // guards following
	versions   map[types.NamespacedName]string // versions of the existing objects, as notified
	newest     map[types.NamespacedName]uint64 // the highest version of each key that was notified
	phase      map[types.NamespacedName][]note // in this phase, collapsed
	violations []string
}

func newNotificationLog(strict bool, pace time.Duration) *notificationLog {
	return &notificationLog{
		strict:   strict,
		pace:     pace,
		versions: map[types.NamespacedName]string{},
		newest:   map[types.NamespacedName]uint64{},
		phase:    map[types.NamespacedName][]note{},
	}
}

func (l *notificationLog) handle(e conformance.Event) {
	time.Sleep(l.pace)
	l.mu.Lock()
	defer l.mu.Unlock()
	n := note{what: e.Type, initial: e.Initial && e.Type == conformance.Added, old: version(e.Old), new: version(e.New)}
	before, exists := l.versions[e.Key]
	// D11, D16
	collapsed := n.what == conformance.Updated && n.old == n.new || n.what == conformance.Deleted && !exists
	if collapsed && !l.strict {
		return
	}
	newer, _ := strconv.ParseUint(n.new, 10, 64)
	switch {
	case collapsed:
		l.addViolation(e, "nothing has changed")
	case exists == (n.what == conformance.Added):
		l.addViolation(e, "it existed: %v", exists)
	case n.what == conformance.Updated && n.old != before:
		l.addViolation(e, "old is not the last notified state, %s", before)
	case newer <= l.newest[e.Key] && !e.FinalStateUnknown:
		l.addViolation(e, "version %d was notified before", l.newest[e.Key])
	}
	l.newest[e.Key] = max(newer, l.newest[e.Key])
	if n.what == conformance.Deleted {
		delete(l.versions, e.Key)
		n.old = "" // for a deleted object, both sides have the last received state
	} else {
		l.versions[e.Key] = n.new
	}
	l.phase[e.Key] = append(l.phase[e.Key], n)
}

func (l *notificationLog) addViolation(e conformance.Event, format string, args ...any) {
	l.violations = append(l.violations, fmt.Sprintf("%s %v %s: ", e.Type, e.Key, version(e.New))+fmt.Sprintf(format, args...))
}

// known returns the versions of the objects that exist according to the notifications.
func (l *notificationLog) known() map[types.NamespacedName]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.versions)
}

// notificationCount returns the number of notifications in this phase.
func (l *notificationLog) notificationCount() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, notes := range l.phase {
		n += len(notes)
	}
	return n
}

// endPhase ends a phase. It returns the notifications and violations of the phase.
func (l *notificationLog) endPhase() (notes map[types.NamespacedName][]note, wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	notes, wrong = l.phase, l.violations
	l.phase, l.violations = map[types.NamespacedName][]note{}, nil
	return notes, wrong
}

func version(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.ResourceVersion
}
