package demo

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
	"k8s.io/apimachinery/pkg/types"
)

// tuned is the pipeline of kinform's main packages.
type tuned struct {
	report       report
	opts         Options
	client       *rest.Client // closed by stop
	informer     *informer.Informer[*pod]
	handler      *informer.Registration[*pod]
	queue        *workqueue.Queue[types.NamespacedName]
	reconcileLog *reconcileLog
	events       atomic.Uint64
	resyncs      atomic.Uint64
	slow         atomic.Uint64 // calls of the slow handler that have returned

	// cancelInformer and cancelWorkers end the informer and the workers. running waits for both,
	// whose errors are informerErr and workersErr.
	cancelInformer, cancelWorkers context.CancelFunc
	informing                     context.Context // ends with cancelInformer
	slowSynced                    func() bool     // waits; nil without a slow handler
	running                       sync.WaitGroup
	informerErr, workersErr       error
}

func newTuned(client *rest.Client, opts Options, page *pageServer, r report) (*tuned, error) {
	p := &tuned{report: r, client: client, opts: opts}
	trace := newTracer(r.journeyEnded)
	pods, err := rest.For[*pod](client, rest.ResourceOptions{})
	if err != nil {
		return nil, err
	}
	options := informer.Options[*pod]{
		Name: "pods",
		Reflector: reflector.Options{
			Logger:   slog.New(slog.DiscardHandler), // The report shows failures.
			Observer: trace.reflector(),
			OnError:  r.failed,
			// A demo is short, so the reflector retries sooner than a client of a busy server
			// should.
			Backoff: reflector.Backoff{Base: 50 * time.Millisecond, Max: time.Second},
		},
		Store:    indexer.Options[*pod]{Indexes: indexes(opts)},
		Observer: trace.informer(),
	}
	queue := workqueue.Options[types.NamespacedName]{
		Name: "pods", Observer: trace.queue(),
		Logger: slog.New(slog.DiscardHandler), // The report shows attempts.
	}
	if page != nil {
		options, queue = view.InformerOptions(page.View, options), view.QueueOptions(page.View, queue)
	}
	inf, err := informer.New(pods, options)
	if err != nil {
		return nil, err
	}
	p.informer = inf
	p.reconcileLog = newReconcileLog(func(key types.NamespacedName) string {
		entry, _ := inf.Store().Entry(key)
		return entry.ResourceVersion
	})
	p.queue = workqueue.New(queue)
	if page != nil {
		page.Client(client)
		view.Informer(page.View, inf)
		view.Queue(page.View, p.queue, "pods")
	}
	p.handler, err = inf.AddHandler(func(e informer.Event[*pod]) {
		p.events.Add(1)
		if e.Cause == informer.Resync {
			p.resyncs.Add(1)
		}
		trace.onEvent(e)
		p.queue.Add(e.Key)
	}, informer.HandlerOptions{Name: "enqueue", Resync: opts.Resync})
	if err != nil || opts.SlowHandler == 0 {
		return p, err
	}
	slow, err := inf.AddHandler(func(informer.Event[*pod]) {
		time.Sleep(opts.SlowHandler)
		p.slow.Add(1)
	}, informer.HandlerOptions{Name: "slow"})
	p.slowSynced = func() bool { return slow.WaitForSync(p.informing) == nil }
	return p, err
}

func (p *tuned) start(workers int) {
	var working context.Context
	p.informing, p.cancelInformer = context.WithCancel(context.Background())
	working, p.cancelWorkers = context.WithCancel(context.Background())
	reconcile := p.opts.slowOrFailing(p.reconcileLog.reconcile, p.report.attemptEnded)
	p.running.Go(func() { p.informerErr = p.informer.Run(p.informing) })
	p.running.Go(func() { p.workersErr = p.queue.RunUntil(context.Background(), working, workers, reconcile) })
	if p.slowSynced != nil {
		began := time.Now()
		p.running.Go(func() {
			if p.slowSynced() {
				p.report.slowSynced(p.slow.Load(), time.Since(began))
			}
		})
	}
}

func (p *tuned) sync(ctx context.Context, total int) error {
	began := time.Now()
	select {
	case <-p.handler.Synced():
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return fmt.Errorf("ended during the first list, after %d of %d pods", p.informer.Status().Reflector.Items, total)
	}
	p.report.synced(p.informer.Store().Len(), time.Since(began))
	return nil
}

func (p *tuned) settle(server *apitest.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	if err := p.informer.Store().WaitRV(ctx, server.ResourceVersion()); err != nil {
		return fmt.Errorf("the store did not catch up with the server within %v: %w", settleWithin, err)
	}
	last := versions(server)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for p.busy() || p.reconcileLog.stale(last) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the workers did not catch up with the store within %v", settleWithin)
		case <-ticker.C:
		}
	}
	return nil
}

// busy reports whether the queues have work left, so that the check of the reconcile log does not
// delay that work. With resyncs there is always work, so busy returns false.
func (p *tuned) busy() bool {
	if p.opts.Resync > 0 {
		return false
	}
	queue := p.queue.Stats()
	return p.handler.Status().Waiting > 0 || queue.Ready > 0 || queue.Processing > 0
}

func (p *tuned) stop() error {
	p.cancelWorkers()
	p.cancelInformer()
	p.running.Wait()
	p.client.Close()
	return cmp.Or(p.informerErr, p.workersErr)
}

func (p *tuned) summary(last map[types.NamespacedName]string) Summary {
	queue := p.queue.Stats()
	found := p.opts.find(func() (n int) {
		pods, err := p.informer.Store().ByIndex(nodeIndex, p.opts.Node)
		if err != nil {
			return 0
		}
		for range pods {
			n++
		}
		return n
	}, func(yield func(*pod) bool) {
		for _, one := range p.informer.Store().All() {
			if !yield(one) {
				return
			}
		}
	})
	return Summary{
		ExperimentResults: p.opts.summary(p.slow.Load(), p.resyncs.Load(), found),
		Objects:           p.informer.Store().Len(),
		Events:            p.events.Load(),
		Enqueued:          queue.Adds,
		Reconciled:        queue.Dones,
		Relists:           p.informer.Status().Reflector.Relists,
		Stale:             p.reconcileLog.stale(last),
	}
}
