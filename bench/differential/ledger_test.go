package differential

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/conformance"
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

// ledger is a handler that records its notifications and all violations.
type ledger struct {
	strict bool          // reports a violation if a notification would have to be collapsed
	pace   time.Duration // how long each call takes

	mu       sync.Mutex                      // guards following
	versions map[types.NamespacedName]string // versions of the existing objects, as notified
	newest   map[types.NamespacedName]uint64 // the highest version of each key that was notified
	phase    map[types.NamespacedName][]note // in this phase, collapsed
	wrong    []string
}

func newLedger(strict bool, pace time.Duration) *ledger {
	return &ledger{
		strict:   strict,
		pace:     pace,
		versions: map[types.NamespacedName]string{},
		newest:   map[types.NamespacedName]uint64{},
		phase:    map[types.NamespacedName][]note{},
	}
}

func (l *ledger) handle(e conformance.Event) {
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
		l.object(e, "nothing has changed")
	case exists == (n.what == conformance.Added):
		l.object(e, "it existed: %v", exists)
	case n.what == conformance.Updated && n.old != before:
		l.object(e, "old was not the last that was told, %s", before)
	case newer <= l.newest[e.Key] && !e.FinalStateUnknown:
		l.object(e, "version %d was told before", l.newest[e.Key])
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

func (l *ledger) object(e conformance.Event, format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf("%s %v %s: ", e.Type, e.Key, version(e.New))+fmt.Sprintf(format, args...))
}

// known returns the versions of the objects that exist according to the notifications.
func (l *ledger) known() map[types.NamespacedName]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.versions)
}

// told returns the number of notifications in this phase.
func (l *ledger) told() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, notes := range l.phase {
		n += len(notes)
	}
	return n
}

// turn ends a phase. It returns the notifications and violations of the phase.
func (l *ledger) turn() (told map[types.NamespacedName][]note, wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	told, wrong = l.phase, l.wrong
	l.phase, l.wrong = map[types.NamespacedName][]note{}, nil
	return told, wrong
}

func version(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.ResourceVersion
}
