package cache

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
)

type notificationKind uint8

const (
	onAdd notificationKind = iota
	onUpdate
	onDelete
	onSynced // marks the end of the initial list in the mailbox; the handler is not notified
)

// notification is one call of a handler. For onDelete, now is the deleted object or its tombstone.
type notification struct {
	kind      notificationKind
	initial   bool
	unchanged bool // the object has not changed: only handlers whose resync is due are notified
	old, now  interface{}
}

// listener is a handler with its goroutine and its mailbox. The mailbox has no bound.
type listener struct {
	handler         ResourceEventHandler
	requestedPeriod time.Duration // the requested resync period; guarded by the informer's mu
	name            string
	logger          klog.Logger

	// has a value if notifications have been put into the empty mailbox, or the listener was
	// stopped
	wake    chan struct{}
	stopCh  chan struct{} // closed by stop
	endedCh chan struct{} // closed when no call is in progress and none will follow
	// closed by the goroutine when the handler has returned from every initial add
	synced  chan struct{}
	stopped atomic.Bool // written with mu held
	mu      sync.Mutex  // guards following
	mailbox []notification
	started bool
	period  time.Duration
	next    time.Time // time of the next resync
	syncing bool

	// The following fields belong to the goroutine.
	batch []notification // taken from the mailbox; batch[:at] has been delivered
	at    int            // index of the next notification in batch
}

func newListener(handler ResourceEventHandler, name string, logger klog.Logger) *listener {
	return &listener{
		handler: handler, name: name, logger: logger, syncing: true,
		wake: make(chan struct{}, 1), stopCh: make(chan struct{}), endedCh: make(chan struct{}), synced: make(chan struct{}),
	}
}

// HasSynced reports whether the handler has returned for each object of the initial list (SI-17).
func (l *listener) HasSynced() bool { return IsDone(l.HasSyncedChecker()) }

// HasSyncedChecker returns HasSynced as a DoneChecker for WaitFor.
func (l *listener) HasSyncedChecker() DoneChecker { return doneChecker{l.name, l.synced} }

// ShutdownChan returns a channel that is closed once the handler is removed and no call is in
// progress.
func (l *listener) ShutdownChan() <-chan struct{} { return l.endedCh }

func (n notification) isUnchanged() bool { return n.unchanged }

// enqueue adds notifications to the mailbox, in order. If the handler's resync is due, it adds all
// notifications. Otherwise it adds only the changes, without the notifications of unchanged
// objects.
func (l *listener) enqueue(all, changes []notification) {
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
		l.wakeUp()
	}
}

func (l *listener) wakeUp() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// upstreamSynced marks the end of the initial adds in the mailbox. HasSynced becomes true when the
// handler's goroutine reaches that notification, even if the list is empty. So HasSynced does not
// become true earlier than with client-go.
func (l *listener) upstreamSynced() {
	end := []notification{{kind: onSynced}}
	l.enqueue(end, end)
}

func (l *listener) setPeriod(period time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.period, l.next = period, time.Now().Add(period)
}

// due reports whether the handler's resync is due at the time now. It saves the result for enqueue.
func (l *listener) due(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncing = l.period > 0 && !now.Before(l.next)
	if l.syncing {
		l.next = now.Add(l.period)
	}
	return l.syncing
}

// start starts the goroutine. The goroutine ends when the listener is stopped.
func (l *listener) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.started || l.stopped.Load() {
		return
	}
	l.started = true
	// With the closure, the stack of the goroutine shows this package even before the goroutine
	// runs.
	go func() { l.run(ctx) }()
}

// stop drops the pending notifications and lets the goroutine end.
func (l *listener) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped.Swap(true) {
		return
	}
	l.mailbox = nil
	close(l.stopCh)
	l.wakeUp()
	if !l.started {
		close(l.endedCh)
	}
}

func (l *listener) hasEnded() bool {
	select {
	case <-l.endedCh:
		return true
	default:
		return false
	}
}

func (l *listener) run(ctx context.Context) {
	defer close(l.endedCh)
	defer func() { l.batch = nil }() // the program may still hold the registration
	retryAfterPanicOrGoexit(klog.NewContext(ctx, l.logger), l.pause, l.deliver)
}

// pause pauses after a panic of the handler.
func (l *listener) pause() bool {
	select {
	case <-l.stopCh:
		return false
	case <-time.After(crashPause):
		return true
	}
}

// deliver calls the handler with one notification after another, until the listener is stopped. If
// it is called again after a panic of the handler, it continues with the next notification. So a
// handler that panics still syncs (D10).
func (l *listener) deliver() {
	for {
		for l.at < len(l.batch) {
			if l.stopped.Load() {
				return
			}
			note := l.batch[l.at]
			l.batch[l.at] = notification{} // the mailbox must not keep the object
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
		spare := l.batch[:0]
		if cap(spare) > 1024 {
			spare = nil
		}
		l.mu.Lock()
		l.batch, l.mailbox, l.at = l.mailbox, spare, 0
		l.mu.Unlock()
	}
}

// call calls the handler's method for this notification.
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
