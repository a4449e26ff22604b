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

// choice holds the settings of an informer that buttons can change.
type choice struct {
	encoding rest.Encoding
	fetch    string // a key of the map fetches
	omit     bool
	overflow informer.Overflow
}

var beginning = choice{fetch: "auto"}

// consumer is an informer and its handler.
type consumer struct {
	informer *informer.Informer[*corev1.Pod]
	handler  *informer.Registration[*corev1.Pod]
	running  context.Context // ends when the informer's Run returns
	stop     context.CancelFunc
}

// smallMailbox is the size of the handler's mailbox. It is so small that a person can watch it fill
// up.
const smallMailbox = 32

// newConsumer makes an informer with these settings.
func (l *Lab) newConsumer(how choice) (*consumer, error) {
	c := &consumer{}
	c.running, c.stop = context.WithCancel(context.Background())
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
			// The waits are short, because a person waits for the retry.
			Backoff: reflector.Backoff{Base: 50 * time.Millisecond, Max: 2 * time.Second},
		},
		Queue: deltafifo.Options{Observer: l.held(c.running)},
		Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
			"node":  func(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName}, nil },
			"phase": func(p *corev1.Pod) ([]string, error) { return []string{string(p.Status.Phase)}, nil },
		}},
	}
	opts.Reflector.ListMode, opts.Reflector.PageSize = fetches[how.fetch].mode, fetches[how.fetch].page
	opts.Observer, opts.Reflector.Observer = l.observers.Observer, l.observers.Reflector.Observer
	c.informer, err = informer.New(source[*corev1.Pod]{pods, &l.path}, opts)
	if err != nil {
		return nil, err
	}
	c.handler, err = l.handler(c, how.overflow)
	return c, err
}

// held returns the picture's queue observer, with a gate before it. When the gate holds it, the
// informer has taken a batch of deltas but has not stored the batch yet.
func (l *Lab) held(running context.Context) *deltafifo.Observer {
	o := *l.observers.Queue.Observer
	shown := o.OnBatch
	o.OnBatch = func(b deltafifo.BatchInfo) {
		l.shelf.pass(running)
		shown(b)
	}
	return &o
}

// fetches are the ways to get a snapshot, by name.
var fetches = map[string]struct {
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
		l.handling.pass(c.running)
		takes(c.running, &l.slow)
		add(e)
	}, informer.HandlerOptions{Name: "enqueue", Mailbox: smallMailbox, Overflow: overflow})
}

// consume runs informers, one after another, until ctx ends.
func (l *Lab) consume(ctx context.Context) error {
	for begun := false; ; {
		c := l.consumer.Load()
		end := context.AfterFunc(ctx, func() { c.stop() })
		ran := make(chan error, 1)
		go func() { ran <- c.informer.Run(c.running) }()
		if !begun {
			begun = true
			for l.queue.Stats().Workers == 0 && ctx.Err() == nil { // a button may change it
				pause(ctx, time.Millisecond)
			}
			close(l.ready)
		}
		var answer chan error
		select {
		case answer = <-l.restart:
		case <-c.running.Done():
		}
		c.stop()
		err := <-ran
		end()
		if answer == nil || err != nil {
			if answer != nil {
				answer <- errors.Join(errEnded, err)
			}
			return err
		}
		next, err := l.newConsumer(l.chosen())
		if err == nil {
			l.consumer.Store(next)
		}
		answer <- err
		if err != nil {
			return err
		}
	}
}

var errEnded = errors.New("the laboratory has ended")

// again stops the informer and starts another one.
func (l *Lab) again(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case l.restart <- answer:
	case <-l.ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	return <-answer
}

func (l *Lab) chosen() choice {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.choice
}

// choose changes the settings, and restarts with a new informer.
func (l *Lab) choose(ctx context.Context, change func(*choice)) error {
	l.mu.Lock()
	change(&l.choice)
	l.mu.Unlock()
	return l.again(ctx)
}

// Status returns the status of the running informer.
func (l *Lab) Status() informer.Status { return l.consumer.Load().informer.Status() }

// Store returns the store of the running informer.
func (l *Lab) Store() *indexer.Reader[*corev1.Pod] { return l.consumer.Load().informer.Store() }

// fails decides at random whether a reconcile fails.
func (l *Lab) fails() bool { return rand.Int64N(100) < l.failing.Load() }
