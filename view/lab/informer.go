package lab

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// settings holds the settings of an informer that buttons can change.
type settings struct {
	encoding rest.Encoding
	fetch    string // a key of the map listMethods
	omit     bool
	overflow informer.Overflow
}

var initialSettings = settings{fetch: "auto"}

// consumer is an informer and its handler.
type consumer struct {
	informer *informer.Informer[*corev1.Pod]
	handler  *informer.Registration[*corev1.Pod]
	runCtx   context.Context // ends when the informer's Run returns
	stop     context.CancelFunc
}

// mailboxSize is the size of the handler's mailbox. It is so small that a user can watch it fill
// up.
const mailboxSize = 32

// newConsumer makes an informer with these settings.
func (l *Lab) newConsumer(how settings) (*consumer, error) {
	c := &consumer{}
	c.runCtx, c.stop = context.WithCancel(context.Background())
	resource := rest.ResourceOptions{Encoding: how.encoding}
	if how.omit {
		resource.Project = rest.Omit{ManagedFields: true, Status: true}
	}
	pods, err := rest.For[*corev1.Pod](l.client, resource)
	if err != nil {
		return nil, err
	}
	opts := informer.Options[*corev1.Pod]{
		Name: "pods", Logger: quiet, Reflector: reflector.Options{
			Logger: quiet,
			// The waits are short, because a user waits for the retry.
			Backoff: reflector.Backoff{Base: 50 * time.Millisecond, Max: 2 * time.Second},
		},
		Queue: deltafifo.Options{Observer: l.gatedObserver(c.runCtx)},
		Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
			"node":  func(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName}, nil },
			"phase": func(p *corev1.Pod) ([]string, error) { return []string{string(p.Status.Phase)}, nil },
		}},
	}
	opts.Reflector.ListMode, opts.Reflector.PageSize = listMethods[how.fetch].mode, listMethods[how.fetch].page
	opts.Observer, opts.Reflector.Observer = l.observers.Observer, l.observers.Reflector.Observer
	c.informer, err = informer.New(source[*corev1.Pod]{pods, &l.path}, opts)
	if err != nil {
		return nil, err
	}
	c.handler, err = l.handler(c, how.overflow)
	return c, err
}

// gatedObserver returns the view's observer of the DeltaFIFO, with a gate before it. While the gate
// is paused, the informer has popped a batch of deltas but has not stored it yet.
func (l *Lab) gatedObserver(running context.Context) *deltafifo.Observer {
	o := *l.observers.Queue.Observer
	shown := o.OnBatch
	o.OnBatch = func(b deltafifo.BatchInfo) {
		l.fifoGate.pass(running)
		shown(b)
	}
	return &o
}

// listMethods are the methods to get a snapshot, by name.
var listMethods = map[string]struct {
	mode reflector.ListMode
	page int64
}{
	"auto":      {reflector.Auto, 0},
	"list":      {reflector.List, -1},
	"paged":     {reflector.List, 10},
	"watchlist": {reflector.WatchList, 0},
}

// handler registers the handler that adds keys to the queue.
func (l *Lab) handler(c *consumer, overflow informer.Overflow) (*informer.Registration[*corev1.Pod], error) {
	add := enqueue.Object[*corev1.Pod](l.queue)
	return c.informer.AddHandler(func(e informer.Event[*corev1.Pod]) {
		l.handlerGate.pass(c.runCtx)
		waitFor(c.runCtx, &l.handlerDelay)
		add(e)
	}, informer.HandlerOptions{Name: "enqueue", Mailbox: mailboxSize, Overflow: overflow})
}

// consume runs informers, one after another, until ctx ends.
func (l *Lab) consume(ctx context.Context) error {
	for begun := false; ; {
		c := l.consumer.Load()
		end := context.AfterFunc(ctx, func() { c.stop() })
		ran := make(chan error, 1)
		go func() { ran <- c.informer.Run(c.runCtx) }()
		if !begun {
			begun = true
			for l.queue.Stats().Workers == 0 && ctx.Err() == nil { // a button may set this
				sleep(ctx, time.Millisecond)
			}
			close(l.ready)
		}
		var reply chan error
		select {
		case reply = <-l.restart:
		case <-c.runCtx.Done():
		}
		c.stop()
		err := <-ran
		end()
		if reply == nil || err != nil {
			if reply != nil {
				reply <- errors.Join(errEnded, err)
			}
			return err
		}
		next, err := l.newConsumer(l.currentSettings())
		if err == nil {
			l.consumer.Store(next)
		}
		reply <- err
		if err != nil {
			return err
		}
	}
}

var errEnded = errors.New("the laboratory has ended")

// restartInformer stops the informer and starts another one.
func (l *Lab) restartInformer(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case l.restart <- reply:
	case <-l.ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-reply
}

func (l *Lab) currentSettings() settings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.settings
}

// changeSettings changes the settings, and restarts the informer with them.
func (l *Lab) changeSettings(ctx context.Context, change func(*settings)) error {
	l.mu.Lock()
	change(&l.settings)
	l.mu.Unlock()
	return l.restartInformer(ctx)
}

// Status returns the status of the running informer.
func (l *Lab) Status() informer.Status { return l.consumer.Load().informer.Status() }

// Store returns the store of the running informer.
func (l *Lab) Store() *indexer.Reader[*corev1.Pod] { return l.consumer.Load().informer.Store() }

// shouldFail decides at random whether a reconcile fails.
func (l *Lab) shouldFail() bool { return rand.Int64N(100) < l.failurePercent.Load() }
