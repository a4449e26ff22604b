package cache

import (
	"context"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

type noteKind uint8

const (
	onAdd noteKind = iota
	onUpdate
	onDelete
)

// notification is one call of a handler. now is the deleted object, or its tombstone, for onDelete.
type notification struct {
	kind     noteKind
	initial  bool
	same     bool // the object has not changed: told to handlers whose resync is due
	old, now interface{}
}

// listener is a handler with its mailbox, which has no bound, and its goroutine.
type listener struct {
	handler ResourceEventHandler
	asked   time.Duration // the resync period that the program has asked for
	name    string

	wake    chan struct{} // has a value when the mailbox may have changed; closed never
	quit    chan struct{} // closed by stop
	ended   chan struct{} // closed when no call is in progress and none will be
	synced  chan struct{} // closed when the handler has returned from each initial add
	mu      sync.Mutex    // guards following
	mailbox []notification
	started bool
	stopped bool
	period  time.Duration
	next    time.Time // of the next resync
	syncing bool
	initial int  // initial adds from which the handler has not returned
	all     bool // no further initial add comes
}

func newListener(handler ResourceEventHandler, asked time.Duration, name string) *listener {
	return &listener{
		handler: handler, asked: asked, name: name, syncing: true,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}), synced: make(chan struct{}),
	}
}

// HasSynced says whether the handler has returned from each object of the initial list (SI-17).
func (l *listener) HasSynced() bool { return IsDone(l.HasSyncedChecker()) }

// HasSyncedChecker is HasSynced for WaitFor.
func (l *listener) HasSyncedChecker() DoneChecker { return doneChecker{l.name, l.synced} }

// ShutdownChan is closed when the handler has been removed and no call of it is in progress.
func (l *listener) ShutdownChan() <-chan struct{} { return l.ended }

// put adds notifications to the mailbox, in this order.
func (l *listener) put(notes []notification) {
	if len(notes) == 0 {
		return
	}
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return
	}
	l.mailbox = append(l.mailbox, notes...)
	for i := range notes {
		if notes[i].initial {
			l.initial++
		}
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// upstreamSynced says that every initial add is in the mailbox.
func (l *listener) upstreamSynced() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = true
	l.checkSyncedLocked()
}

func (l *listener) checkSyncedLocked() {
	if !l.all || l.initial > 0 {
		return
	}
	select {
	case <-l.synced:
	default:
		close(l.synced)
	}
}

func (l *listener) setPeriod(period time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.period, l.next = period, time.Now().Add(period)
}

// due marks the handler as one whose resync is due at this time, or not.
func (l *listener) due(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncing = l.period > 0 && !now.Before(l.next)
	if l.syncing {
		l.next = now.Add(l.period)
	}
	return l.syncing
}

func (l *listener) isSyncing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncing
}

// start starts the goroutine, which ends when the handler is stopped.
func (l *listener) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started || l.stopped {
		return
	}
	l.started = true
	go l.run(ctx)
}

// stop drops what the handler has not been told yet, and lets the goroutine end.
func (l *listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		return
	}
	l.stopped = true
	l.mailbox = nil
	close(l.quit)
	if !l.started {
		close(l.ended)
	}
}

func (l *listener) hasEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

func (l *listener) run(ctx context.Context) {
	defer close(l.ended)
	var spare []notification
	for {
		select {
		case <-l.quit:
			return
		case <-l.wake:
		}
		l.mu.Lock()
		notes := l.mailbox
		l.mailbox = spare[:0]
		l.mu.Unlock()
		for i := range notes {
			select {
			case <-l.quit:
				return
			default:
			}
			if !l.call(ctx, notes[i]) {
				// So that a handler that panics each time does not fill the log (SI-14).
				select {
				case <-l.quit:
					return
				case <-time.After(time.Second):
				}
			}
			notes[i] = notification{} // the mailbox must not keep the object
		}
		if spare = notes; cap(spare) > 1024 {
			spare = nil
		}
	}
}

// call calls the handler, and returns false after a panic, if panics don't end the process.
func (l *listener) call(ctx context.Context, n notification) (ok bool) {
	defer func() {
		if n.initial { // also after a panic (D10)
			l.mu.Lock()
			l.initial--
			l.checkSyncedLocked()
			l.mu.Unlock()
		}
	}()
	defer utilruntime.HandleCrashWithContext(ctx)
	switch n.kind {
	case onAdd:
		l.handler.OnAdd(n.now, n.initial)
	case onUpdate:
		l.handler.OnUpdate(n.old, n.now)
	case onDelete:
		l.handler.OnDelete(n.now)
	}
	return true
}
