// Package demo runs the whole pipeline on an API server in the same process, and
// shows what happens as it happens.
package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is what the pipeline carries.
type pod = corev1.Pod

// Options are the choices of a run.
type Options struct {
	// Pods is how many there are at the start, in Namespaces namespaces.
	Pods, Namespaces int

	// Churn is how many creates, updates and deletes there are a second, 0 for
	// none.
	Churn float64

	// Faults makes the server drop watches, compact its past and answer 429.
	Faults bool

	// Workers take keys from the workqueue.
	Workers int

	// For ends the run by itself. 0 runs until the context ends.
	For time.Duration
}

// settleWithin bounds the wait for the pipeline to catch up with a quiet server,
// which takes milliseconds where the machine has nothing else to do.
const settleWithin = time.Minute

// run runs the pipeline until its time is over or ctx ends, then lets it catch
// up, drains it and takes it down. The error says what did not end clean.
func run(ctx context.Context, opts Options, r report) error {
	// A page in a browser reaches loopback as well, and has no token.
	token := rand.Text()
	server := apitest.New(apitest.Options{BearerToken: token})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	r.started(opts, server.URL())
	if err := apitest.Populate(server, opts.pods(ctx)); err != nil {
		return err
	}
	client, err := rest.NewClient(rest.Config{Host: server.URL(), BearerToken: rest.NewSecret(token)}, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	p, err := newPipeline(client, r)
	if err != nil {
		return err
	}

	p.start(opts.Workers)
	if err = p.sync(ctx, opts.Pods); err == nil {
		err = churn(ctx, server, opts, r)
		r.draining()
		err = errors.Join(err, p.settle(server))
	}
	err = errors.Join(err, p.stop())
	summary := p.summary(versions(server))
	r.summary(summary)
	if err == nil && summary.Stale > 0 {
		err = fmt.Errorf("%d keys were not reconciled in their last state", summary.Stale)
	}
	return err
}

// pods makes those that there are at the start, until ctx ends.
func (o Options) pods(ctx context.Context) iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		for p := range apitest.Pods(o.Pods, o.shape()) {
			if ctx.Err() != nil || !yield(p) {
				return
			}
		}
	}
}

// shape is what pods are like.
func (o Options) shape() apitest.PodOptions { return apitest.PodOptions{Namespaces: o.Namespaces} }

// churn changes pods, and makes trouble if that is wanted, until the time is over
// or ctx ends.
func churn(ctx context.Context, server *apitest.Server, opts Options, r report) (err error) {
	if opts.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.For)
		defer cancel()
	}
	var trouble sync.WaitGroup
	if opts.Faults {
		trouble.Go(func() { makeTrouble(ctx, server, r) })
	}
	if opts.Churn > 0 {
		_, err = server.Churn(ctx, apitest.ChurnOptions{
			PerSecond: opts.Churn,
			Creates:   1, Updates: 6, Deletes: 1,
			Pods: opts.shape(),
		})
	}
	<-ctx.Done()
	trouble.Wait()
	return err
}

// pipeline is every stage, wired: list and watch, reflector, DeltaFIFO, store,
// handler, workqueue, workers.
type pipeline struct {
	report   report
	informer *informer.Informer[*pod]
	handler  *informer.Registration[*pod]
	queue    *workqueue.Queue[types.NamespacedName]
	ledger   *ledger
	events   atomic.Uint64

	// cancelInformer and cancelWorkers end the two that run; running waits for
	// both, and the errors are theirs.
	cancelInformer, cancelWorkers context.CancelFunc
	running                       sync.WaitGroup
	informerErr, workersErr       error
}

func newPipeline(client *rest.Client, r report) (*pipeline, error) {
	p := &pipeline{report: r}
	trace := newTracer(r.traveled)
	pods := rest.NewResource[*pod](client, corev1.SchemeGroupVersion.WithResource("pods"), rest.ResourceOptions{})
	inf, err := informer.New(pods, informer.Options[*pod]{
		Name: "pods",
		Reflector: reflector.Options{
			Logger:   slog.New(slog.DiscardHandler), // The report shows each failure.
			Observer: trace.reflector(),
			OnError:  r.failed,
			// A demo is short: it retries sooner than a client of a busy server should.
			Backoff: reflector.Backoff{Base: 50 * time.Millisecond, Max: time.Second},
		},
		Observer: trace.informer(),
	})
	if err != nil {
		return nil, err
	}
	p.informer = inf
	p.ledger = newLedger(inf.Store())
	p.queue = workqueue.New(workqueue.Options[types.NamespacedName]{Name: "pods", Observer: trace.queue()})
	p.handler, err = inf.AddHandler(func(e informer.Event[*pod]) {
		p.events.Add(1)
		trace.handled(e)
		p.queue.Add(e.Key)
	}, informer.HandlerOptions{Name: "enqueue"})
	return p, err
}

// start starts the informer and the workers. They have contexts of their own, as
// the end of the run's context is when draining begins.
func (p *pipeline) start(workers int) {
	var informing, working context.Context
	informing, p.cancelInformer = context.WithCancel(context.Background())
	working, p.cancelWorkers = context.WithCancel(context.Background())
	p.running.Go(func() { p.informerErr = p.informer.Run(informing) })
	p.running.Go(func() { p.workersErr = p.queue.RunUntil(context.Background(), working, workers, p.ledger.reconcile) })
}

// sync waits for the first list and shows its progress.
func (p *pipeline) sync(ctx context.Context, total int) error {
	began := time.Now()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-p.handler.Synced():
			p.report.synced(p.informer.Store().Len(), time.Since(began))
			return nil
		case <-ctx.Done():
		case <-ticker.C:
			list := p.informer.Status().Reflector
			p.report.syncing(list.Items, max(total, int(list.Total)))
		}
	}
	return fmt.Errorf("ended during the first list, after %d of %d pods", p.informer.Status().Reflector.Items, total)
}

// settle waits until the store has all that the server has, which nobody changes
// any more, and every key has been reconciled in its last state.
func (p *pipeline) settle(server *apitest.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	if err := p.informer.Store().WaitRV(ctx, server.ResourceVersion()); err != nil {
		return fmt.Errorf("the store did not catch up with the server within %v: %w", settleWithin, err)
	}
	last := versions(server)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for p.busy() || p.ledger.stale(last) > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the workers did not catch up with the store within %v", settleWithin)
		case <-ticker.C:
		}
	}
	return nil
}

// busy says that there is work in sight, which asking the ledger would delay.
func (p *pipeline) busy() bool {
	queue := p.queue.Stats()
	return p.handler.Status().Waiting > 0 || queue.Ready > 0 || queue.Processing > 0
}

// stop drains the workqueue and takes everything down.
func (p *pipeline) stop() error {
	p.cancelWorkers()
	p.cancelInformer()
	p.running.Wait()
	return cmp.Or(p.informerErr, p.workersErr)
}

// summary compares with the last state of the server.
func (p *pipeline) summary(last map[types.NamespacedName]string) Summary {
	queue := p.queue.Stats()
	return Summary{
		Objects:    p.informer.Store().Len(),
		Events:     p.events.Load(),
		Enqueued:   queue.Adds,
		Reconciled: queue.Dones,
		Relists:    p.informer.Status().Reflector.Relists,
		Stale:      p.ledger.stale(last),
	}
}

// versions returns the version of every pod that the server has.
func versions(server *apitest.Server) map[types.NamespacedName]string {
	all := make(map[types.NamespacedName]string)
	objects, _, _ := server.List(corev1.SchemeGroupVersion.WithResource("pods"), "") // Pods are always served.
	for _, obj := range objects {
		all[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] = obj.GetResourceVersion()
	}
	return all
}
