package demo

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/plain"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// textbook is the pipeline of package plain. Package plain has no observers, so the report can
// follow a change only from the handler on.
type textbook struct {
	report       report
	opts         Options
	transport    *http.Transport
	lists        atomic.Uint64
	informer     *plain.Informer[*pod]
	handler      *plain.Handler[*pod]
	queue        *plain.Queue[types.NamespacedName]
	reconcileLog *reconcileLog
	events       atomic.Uint64
	runs         atomic.Uint64
	resyncs      atomic.Uint64
	slow         *plain.Handler[*pod] // nil without a slow handler
	slowCalls    atomic.Uint64        // calls that have returned

	mu      sync.Mutex                             // guards following
	waiting map[types.NamespacedName]waitingChange // changes whose key is in the workqueue

	cancelInformer, cancelWorkers context.CancelFunc
	running                       sync.WaitGroup
	informerErr                   error
}

// waitingChange is a change whose key has been enqueued.
type waitingChange struct {
	journey
	since time.Time
}

func newTextbook(url, token string, opts Options, r report) (*textbook, error) {
	p := &textbook{report: r, opts: opts, transport: &http.Transport{}, waiting: map[types.NamespacedName]waitingChange{}}
	transport := roundTripperFunc(func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" {
			p.lists.Add(1)
		}
		request = request.Clone(request.Context())
		request.Header.Set("Authorization", "Bearer "+token)
		return p.transport.RoundTrip(request)
	})
	client := &plain.Client[*pod]{HTTP: &http.Client{Transport: transport}, URL: url + "/api/v1/pods", UserAgent: "kinform demo"}
	p.informer = plain.NewInformer(client, plain.Options[*pod]{
		Indexes: map[string]plain.IndexFunc[*pod]{nodeIndex: byNode}, Resync: opts.Resync, OnError: p.failed,
	})
	p.queue = plain.NewQueue[types.NamespacedName]()
	p.reconcileLog = newReconcileLog(func(key types.NamespacedName) string {
		if stored, exists := p.informer.Store.Get(key); exists {
			return stored.ResourceVersion
		}
		return ""
	})
	var err error
	p.handler, err = p.informer.AddHandler(p.onEvent)
	if err != nil || opts.SlowHandler == 0 {
		return p, err
	}
	p.slow, err = p.informer.AddHandler(func(plain.Event[*pod]) {
		time.Sleep(opts.SlowHandler)
		p.slowCalls.Add(1)
	})
	return p, err
}

type roundTripperFunc func(*http.Request) (*http.Response, error)

func (r roundTripperFunc) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func (p *textbook) failed(err error) {
	phase := reflector.Watching
	if strings.HasPrefix(err.Error(), "list ") {
		phase = reflector.Listing
	}
	p.report.failed(reflector.Error{Phase: phase, Err: err, RetryIn: unknown})
}

// onEvent handles an event. It records the change before it enqueues the key, so that the worker
// finds the change.
func (p *textbook) onEvent(e plain.Event[*pod]) {
	p.events.Add(1)
	key := plain.KeyOf(e.New)
	resync := e.Type == plain.Updated && e.Old == e.New
	if resync {
		p.resyncs.Add(1)
	}
	if !e.Initial && !resync {
		p.mu.Lock()
		w, merged := p.waiting[key]
		if merged {
			w.Merged++
		} else {
			w.since = time.Now()
		}
		w.Type, w.Cause, w.Key, w.ResourceVersion = eventTypes[e.Type], informer.Watch, key, e.New.ResourceVersion
		if e.FinalStateUnknown {
			w.Cause = informer.Relist
		}
		w.FIFO, w.Mailbox = unknown, unknown
		p.waiting[key] = w
		p.mu.Unlock()
	}
	p.queue.Add(key)
}

var eventTypes = map[plain.DeltaType]informer.EventType{
	plain.Added: informer.Added, plain.Updated: informer.Updated, plain.Deleted: informer.Deleted,
}

func (p *textbook) reconcile(ctx context.Context, key types.NamespacedName) error {
	began := time.Now()
	p.mu.Lock()
	w, changed := p.waiting[key]
	delete(p.waiting, key)
	p.mu.Unlock()
	p.runs.Add(1)
	err := p.reconcileLog.reconcile(ctx, key)
	if changed {
		w.Workqueue, w.Worker = began.Sub(w.since), time.Since(began)
		p.report.journeyEnded(w.journey)
	}
	return err
}

func (p *textbook) start(workers int) {
	var informing, working context.Context
	informing, p.cancelInformer = context.WithCancel(context.Background())
	working, p.cancelWorkers = context.WithCancel(context.Background())
	p.running.Go(func() { p.informerErr = p.informer.Run(informing) })
	reconcile := p.opts.slowOrFailing(p.reconcile, p.report.attemptEnded)
	p.running.Go(func() { plain.Work(working, p.queue, workers, reconcile) })
	if p.slow != nil {
		began := time.Now()
		p.running.Go(func() {
			if await(informing, p.slow.Synced) == nil {
				p.report.slowSynced(p.slowCalls.Load(), time.Since(began))
			}
		})
	}
}

func (p *textbook) sync(ctx context.Context, total int) error {
	began := time.Now()
	err := await(ctx, func() bool { return p.handler.Synced() })
	if err != nil {
		return fmt.Errorf("ended during the first list, of %d pods", total)
	}
	p.report.synced(len(p.informer.Store.List()), time.Since(began))
	return nil
}

func (p *textbook) settle(server *apitest.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	last := versions(server)
	if await(ctx, func() bool { return p.reconcileLog.stale(last) == 0 && (p.queue.Len() == 0 || p.opts.Resync > 0) }) != nil {
		return fmt.Errorf("store and workers did not catch up with the server within %v", settleWithin)
	}
	return nil
}

// await calls done repeatedly until it returns true, or until ctx ends.
func await(ctx context.Context, done func() bool) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

func (p *textbook) stop() error {
	p.cancelWorkers()
	p.cancelInformer()
	p.running.Wait()
	p.transport.CloseIdleConnections()
	return p.informerErr
}

// summary reports the same number for enqueued and reconciled keys. The queue has no counter, and
// by then every enqueued key has been reconciled.
func (p *textbook) summary(last map[types.NamespacedName]string) Summary {
	found := p.opts.find(func() int {
		pods, err := p.informer.Store.ByIndex(nodeIndex, p.opts.Node)
		if err != nil {
			return 0
		}
		return len(pods)
	}, slices.Values(p.informer.Store.List()))
	return Summary{
		ExperimentResults: p.opts.summary(p.slowCalls.Load(), p.resyncs.Load(), found),
		Objects:           len(p.informer.Store.List()),
		Events:            p.events.Load(),
		Enqueued:          p.runs.Load(),
		Reconciled:        p.runs.Load(),
		Relists:           max(p.lists.Load(), 1) - 1,
		Stale:             p.reconcileLog.stale(last),
	}
}
