package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// Options are the settings of a [Lab]. The zero value works.
type Options struct {
	// View has the options of the view. The lab sets Laboratory and Server itself. The lab shows
	// field values, because the pods are synthetic. With Listen, others can write pods, so it does
	// not show values.
	View view.Options

	// Pods is the number of pods at the beginning. Defaults to 20; negative means none.
	Pods int

	// PodOptions are the options of the pods. Defaults to 3 namespaces and 5 nodes.
	PodOptions apitest.PodOptions

	// Rate is the number of writes to pods per second. Defaults to 0: only buttons write.
	Rate int

	// Window is the number of past changes that the API server keeps; see [apitest.Options]. A kept
	// change takes as much memory as a pod: 9 KB, and 14 KB more once it has been sent as JSON. A
	// watch that needs older changes gets 410. Defaults to 10,000.
	Window int

	// Workers is the number of workers of the queue. Defaults to 4.
	Workers int

	// BookmarkInterval is the time between bookmarks. Defaults to 2 seconds. On a real server it is
	// about a minute, which is too long for a user who watches.
	BookmarkInterval time.Duration

	// Listen is a further TCP address of the API server, such as "127.0.0.1:8001". The server needs
	// no credentials there: use loopback. Defaults to "": only the lab's own client reaches the
	// server.
	Listen string
}

func (o Options) withDefaults() (Options, error) {
	if o.Pods == 0 {
		o.Pods = 20
	}
	if o.PodOptions == (apitest.PodOptions{}) {
		o.PodOptions = apitest.PodOptions{Namespaces: 3, Nodes: 5}
	}
	if o.Workers == 0 {
		o.Workers = 4
	}
	if o.BookmarkInterval == 0 {
		o.BookmarkInterval = 2 * time.Second
	}
	if o.View.Title == "" {
		o.View.Title = "kinform laboratory"
	}
	if o.View.Laboratory != nil || o.View.Server != nil {
		return o, errors.New("lab: Options: View.Laboratory and View.Server must not be set")
	}
	if o.Window < 0 {
		return o, fmt.Errorf("lab: Options: Window is %d: it must not be negative", o.Window)
	}
	if o.Workers < 0 || o.Workers > maxWorkers || o.Rate < 0 || o.Rate > maxRate {
		return o, fmt.Errorf("lab: Options: Workers is %d and must be from 1 to %d, Rate is %d and must be from 0 to %d", o.Workers, maxWorkers, o.Rate, maxRate)
	}
	return o, nil
}

// Lab is a laboratory. Make a Lab with [New] and run it once with [Lab.Run]. It is the
// [view.Laboratory] of its view, and a [view.Comparer].
type Lab struct {
	opts   Options
	server *apitest.Server
	client *rest.Client
	view   *view.View
	queue  *workqueue.Queue[types.NamespacedName]

	path                              watchPath // the path of watch events
	fifoGate, handlerGate, workerGate gate
	handlerDelay, reconcileDelay      atomic.Int64 // durations of a handler call and of a reconcile
	failurePercent                    atomic.Int64 // percentage of reconciles that fail
	rate                              atomic.Int64 // writes per second
	hotRate                           atomic.Int64 // writes of a single pod per second
	workers                           atomic.Int64
	throttleFault                     atomic.Pointer[apitest.InjectedFault]

	// observers are the view's observers, which all informers share.
	observers informer.Options[*corev1.Pod]
	consumer  atomic.Pointer[consumer]
	restart   chan chan error
	ready     chan struct{} // closed when the first informer and the workers are running
	ended     chan struct{} // closed when Run has ended

	objects     objects
	comparisons comparisons

	mu       sync.Mutex // guards following
	settings settings
}

// New makes a laboratory. It starts no goroutine.
func New(opts Options) (*Lab, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Lab{
		opts:    opts,
		server:  apitest.New(apitest.Options{BookmarkInterval: opts.BookmarkInterval, Window: opts.Window}),
		restart: make(chan chan error), ready: make(chan struct{}), ended: make(chan struct{}),
	}
	l.rate.Store(int64(opts.Rate))
	l.workers.Store(int64(opts.Workers))
	l.objects.server = l.server
	// Values are synthetic, unless others may write.
	opts.View.Values = opts.View.Values || opts.Listen == ""
	opts.View.Laboratory, opts.View.Server = l, l.state
	if l.view, err = view.New(opts.View); err != nil {
		return nil, err
	}
	l.client, err = rest.NewClient(rest.Config{
		Host: "http://laboratory",
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return l.server.DialContext(ctx, network, address)
		},
	}, rest.Options{Logger: quiet})
	if err != nil {
		return nil, err
	}
	l.queue = workqueue.New(view.QueueOptions(l.view, workqueue.Options[types.NamespacedName]{Name: "pods", Logger: quiet}))
	l.observers = view.InformerOptions(l.view, informer.Options[*corev1.Pod]{Name: "pods"})
	l.settings = initialSettings
	c, err := l.newConsumer(initialSettings)
	if err != nil {
		return nil, err
	}
	l.consumer.Store(c)
	view.Informer(l.view, l)
	whole, err := rest.For[*corev1.Pod](l.client, rest.ResourceOptions{})
	if err != nil {
		return nil, err
	}
	view.ServerObjects(l.view, "pods", func(ctx context.Context, key types.NamespacedName) (*corev1.Pod, error) {
		return whole.Get(ctx, key, metav1.GetOptions{})
	})
	view.Queue(l.view, l.queue, "pods")
	l.view.Client(l.client)
	return l, nil
}

// quiet drops all logs, because the page shows the same information.
var quiet = slog.New(slog.DiscardHandler)

// View returns the view of the laboratory. The view serves the page.
func (l *Lab) View() *view.View { return l.view }

// Server returns the API server, which serves while Run is running. Its URL is the address of
// Options.Listen.
func (l *Lab) Server() *apitest.Server { return l.server }

// state returns the state of the API server for the page.
func (l *Lab) state() view.Server {
	objects := l.objects.count()
	if l.opts.Listen != "" {
		objects = -1 // unknown, because others may write
	}
	return view.Server{ResourceVersion: l.server.ResourceVersion(), Oldest: l.server.OldestResourceVersion(), Objects: objects}
}

// Run makes the first pods and runs the pipeline until ctx ends. Then it ends the pipeline, the
// server and the view. It returns an error only if one of them could not start, or did not end
// normally.
func (l *Lab) Run(ctx context.Context) error {
	defer close(l.ended)
	defer l.view.Close()
	defer l.client.Close()
	defer l.server.Close()
	if err := l.server.ListenMemory(); err != nil {
		return err
	}
	if l.opts.Listen != "" {
		if err := l.server.Listen(l.opts.Listen); err != nil {
			return err
		}
	}
	if l.opts.Pods > 0 {
		if err := l.objects.populate(apitest.Pods(l.opts.Pods, l.opts.PodOptions)); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	var queueErr error
	parts.Go(func() { queueErr = l.queue.Run(ctx, l.opts.Workers, l.reconcile); stop() })
	parts.Go(func() { l.write(ctx) })
	err := l.consume(ctx)
	stop()
	parts.Wait()
	return errors.Join(err, queueErr)
}

// write writes pods at the rates of the settings.
func (l *Lab) write(ctx context.Context) {
	const every = 20 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	var churn, hot float64 // numbers of writes that are due
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		churn += float64(l.rate.Load()) * every.Seconds()
		for ; churn >= 1; churn-- {
			_ = l.objects.churn() // The next write may succeed.
		}
		hot += float64(l.hotRate.Load()) * every.Seconds()
		for ; hot >= 1; hot-- {
			_ = l.objects.updateHot(1) // It fails if there are no pods.
		}
	}
}

// reconcile spends some time on one key, and may fail at random.
func (l *Lab) reconcile(ctx context.Context, _ types.NamespacedName) error {
	l.workerGate.pass(ctx)
	waitFor(ctx, &l.reconcileDelay)
	if l.shouldFail() {
		return errors.New("the laboratory makes this reconcile fail")
	}
	return nil
}
