package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

type noteKind uint8

const (
	onAdd noteKind = iota
	onUpdate
	onDelete
	onSynced // the end of the initial list, of which the handler is not notified
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
	asked   time.Duration // the resync period that the program has asked for; guarded by the informer's mu
	name    string
	logger  klog.Logger

	wake    chan struct{} // has a value when the mailbox is no longer empty, or the listener is stopped
	quit    chan struct{} // closed by stop
	ended   chan struct{} // closed when no call is in progress and none will be
	synced  chan struct{} // closed by the goroutine when the handler has returned from each initial add
	stopped atomic.Bool   // written with mu held
	mu      sync.Mutex    // guards following
	mailbox []notification
	started bool
	period  time.Duration
	next    time.Time // of the next resync
	syncing bool

	// The following fields belong to the goroutine.
	taken []notification // of the mailbox, not all of which the handler has been told
	at    int            // the next of them
}

func newListener(handler ResourceEventHandler, name string, logger klog.Logger) *listener {
	return &listener{
		handler: handler, name: name, logger: logger, syncing: true,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}), synced: make(chan struct{}),
	}
}

// HasSynced says whether the handler has returned from each object of the initial list (SI-17).
func (l *listener) HasSynced() bool { return IsDone(l.HasSyncedChecker()) }

// HasSyncedChecker is HasSynced for WaitFor.
func (l *listener) HasSyncedChecker() DoneChecker { return doneChecker{l.name, l.synced} }

// ShutdownChan is closed when the handler has been removed and no call of it is in progress.
func (l *listener) ShutdownChan() <-chan struct{} { return l.ended }

func (n notification) isSame() bool { return n.same }

// put adds notifications to the mailbox, in this order: all of them while a resync is due, and else the changes.
func (l *listener) put(all, changes []notification) {
	l.mu.Lock()
	notes := changes
	if l.syncing {
		notes = all
	}
	if l.stopped.Load() || len(notes) == 0 {
		l.mu.Unlock()
		return
	}
	wasEmpty := len(l.mailbox) == 0
	l.mailbox = append(l.mailbox, notes...)
	l.mu.Unlock()
	if wasEmpty {
		l.rouse()
	}
}

func (l *listener) rouse() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// upstreamSynced says that every initial add is in the mailbox. The goroutine of the handler makes
// HasSynced true after them, even if the list is empty: with client-go, a goroutine does it as well,
// and programs that poll rely on the wait.
func (l *listener) upstreamSynced() {
	end := []notification{{kind: onSynced}}
	l.put(end, end)
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

// start starts the goroutine, which ends when the handler is stopped.
func (l *listener) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started || l.stopped.Load() {
		return
	}
	l.started = true
	go func() { l.run(ctx) }() // a goroutine that has not run yet has this package in its stack
}

// stop drops what the handler has not been told yet, and lets the goroutine end.
func (l *listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped.Swap(true) {
		return
	}
	l.mailbox = nil
	close(l.quit)
	l.rouse()
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
	defer func() { l.taken = nil }() // the program may keep the registration
	keepOnOwn(klog.NewContext(ctx, l.logger), l.pause, l.deliver)
}

// pause is the pause after a panic of the handler.
func (l *listener) pause() bool {
	select {
	case <-l.quit:
		return false
	case <-time.After(crashPause):
		return true
	}
}

// deliver notifies the handler until the listener is stopped. When it is called again after a panic,
// it goes on with the next notification, so that a handler that panics is synced as well (D10).
func (l *listener) deliver() {
	for {
		for l.at < len(l.taken) {
			if l.stopped.Load() {
				return
			}
			note := l.taken[l.at]
			l.taken[l.at] = notification{} // the mailbox must not keep the object
			l.at++
			if note.kind == onSynced {
				close(l.synced)
			} else {
				note.call(l.handler)
			}
		}
		if l.stopped.Load() {
			return
		}
		<-l.wake
		spare := l.taken[:0]
		if cap(spare) > 1024 {
			spare = nil
		}
		l.mu.Lock()
		l.taken, l.mailbox, l.at = l.mailbox, spare, 0
		l.mu.Unlock()
	}
}

// call notifies a handler.
func (n *notification) call(handler ResourceEventHandler) {
	switch n.kind {
	case onAdd:
		handler.OnAdd(n.now, n.initial)
	case onUpdate:
		handler.OnUpdate(n.old, n.now)
	case onDelete:
		handler.OnDelete(n.now)
	}
}
