// Package stand is a small laboratory for the tests of the tour: a pipeline on an API server in the process, and the
// actions that the lessons need.
package stand

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

// Stand is a pipeline that lessons may do things to. It is a view.Laboratory.
type Stand struct {
	View *view.View

	server *apitest.Server
	client *rest.Client
	queue  *workqueue.Queue[types.NamespacedName]

	informer      atomic.Pointer[informer.Informer[*corev1.Pod]]
	slow, work    atomic.Int64 // milliseconds
	failing       atomic.Bool
	again         chan struct{} // the consumer starts again
	mu            sync.Mutex    // guards following
	names, writes int
	gate          chan struct{} // the informer waits while it is open
	resyncs       []*informer.Registration[*corev1.Pod]
}

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// New returns a laboratory with a number of pods. Run runs it.
func New(n int) (*Stand, error) {
	s := &Stand{server: apitest.New(apitest.Options{BookmarkInterval: 2 * time.Second}), again: make(chan struct{}, 1)}
	err := errors.Join(s.server.Listen("127.0.0.1:0"), apitest.Populate(s.server, apitest.Pods(n, apitest.PodOptions{Namespaces: 3, Nodes: 5})))
	if err != nil {
		return nil, err
	}
	s.View, err = view.New(view.Options{Title: "tour", IndexValues: true, Laboratory: s, Server: func() view.Server {
		all, _, _ := s.server.List(pods, "")
		return view.Server{ResourceVersion: s.server.ResourceVersion(), Oldest: s.server.OldestResourceVersion(), Objects: len(all)}
	}})
	if err != nil {
		return nil, err
	}
	s.client, err = rest.NewClient(rest.Config{Host: s.server.URL()}, rest.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	s.queue = workqueue.New(view.QueueOptions(s.View, workqueue.Options[types.NamespacedName]{Name: "pods", Logger: slog.New(slog.DiscardHandler)}))
	if err := s.consumer(); err != nil {
		return nil, err
	}
	view.Informer(s.View, s)
	view.Queue(s.View, s.queue, "pods")
	s.View.Client(s.client)
	return s, nil
}

// Status and Store are those of the informer that runs now.
func (s *Stand) Status() informer.Status             { return s.informer.Load().Status() }
func (s *Stand) Store() *indexer.Reader[*corev1.Pod] { return s.informer.Load().Store() }

func (s *Stand) consumer() error {
	source, err := rest.For[*corev1.Pod](s.client, rest.ResourceOptions{})
	if err != nil {
		return err
	}
	opts := informer.Options[*corev1.Pod]{Name: "pods", Logger: slog.New(slog.DiscardHandler),
		Queue: deltafifo.Options{Observer: &deltafifo.Observer{OnBatch: func(deltafifo.BatchInfo) { s.hold() }}},
		Store: indexer.Options[*corev1.Pod]{Indexes: map[string]indexer.IndexFunc[*corev1.Pod]{
			"node": func(p *corev1.Pod) ([]string, error) { return []string{p.Spec.NodeName}, nil },
		}}}
	i, err := informer.New(source, view.InformerOptions(s.View, opts))
	if err != nil {
		return err
	}
	add := enqueue.Object[*corev1.Pod](s.queue)
	_, err = i.AddHandler(func(e informer.Event[*corev1.Pod]) {
		time.Sleep(time.Duration(s.slow.Load()) * time.Millisecond)
		add(e)
	}, informer.HandlerOptions{Name: "enqueue"})
	s.informer.Store(i)
	return err
}

func (s *Stand) hold() {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		<-gate
	}
}

// Run runs informer and workers until ctx ends, and then ends the server.
func (s *Stand) Run(ctx context.Context) error {
	defer s.server.Close()
	defer s.client.Close()
	defer s.View.Close()
	worked := make(chan error, 1)
	go func() { worked <- s.queue.Run(ctx, 4, s.reconcile) }()
	var err error
	for ctx.Err() == nil && err == nil {
		part, stop := context.WithCancel(ctx)
		ran := make(chan error, 1)
		go func() { ran <- s.informer.Load().Run(part) }()
		select {
		case <-ctx.Done():
		case <-s.again:
		}
		s.release()
		stop()
		if err = <-ran; err == nil && ctx.Err() == nil {
			err = s.consumer()
		}
	}
	return errors.Join(err, <-worked)
}

func (s *Stand) reconcile(ctx context.Context, _ types.NamespacedName) error {
	select {
	case <-time.After(time.Duration(s.work.Load()) * time.Millisecond):
	case <-ctx.Done():
	}
	if s.failing.Load() {
		return errors.New("told to fail")
	}
	return nil
}

func (s *Stand) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate != nil {
		close(s.gate)
	}
	s.gate = nil
}

func (s *Stand) Actions() []view.Action {
	n := []view.Input{{ID: "n", Label: "how many", Default: "1", Min: 0, Max: 1000}}
	ms := []view.Input{{ID: "ms", Label: "ms", Default: "0", Min: 0, Max: 60000}}
	stage := []view.Input{{ID: "stage", Label: "stage", Default: "fifo", Choices: []string{"fifo"}}}
	all := []view.Action{
		{ID: "reset"}, {ID: "create", Inputs: n}, {ID: "update", Inputs: n}, {ID: "delete", Inputs: n}, {ID: "burst", Inputs: n}, {ID: "other", Inputs: n},
		{ID: "pause", Inputs: stage}, {ID: "resume", Inputs: stage}, {ID: "drop"}, {ID: "expire"}, {ID: "relist"}, {ID: "vanish", Inputs: n},
		{ID: "slow", Inputs: ms}, {ID: "work", Inputs: ms}, {ID: "crash"}, {ID: "workers", Inputs: n}, {ID: "resync"},
		{ID: "fail", Inputs: []view.Input{{ID: "percent", Label: "%", Default: "0", Min: 0, Max: 100}}},
	}
	for i := range all {
		all[i].Label = all[i].ID
	}
	return all
}

func (s *Stand) State() map[string]string { return nil }

func (s *Stand) Do(ctx context.Context, action string, values map[string]string) (string, error) {
	n, _ := strconv.Atoi(values["n"])
	ms, _ := strconv.ParseInt(values["ms"], 10, 64)
	var err error
	switch action {
	case "reset":
		err = s.reset()
	case "create":
		for range n {
			pod := &corev1.Pod{}
			s.mu.Lock()
			s.names++
			pod.Namespace, pod.Name, pod.Spec.NodeName = "ns-0", fmt.Sprintf("new-%d", s.names), "node-1"
			s.mu.Unlock()
			_, e := s.server.Create(pod)
			err = errors.Join(err, e)
		}
	case "update":
		for _, pod := range s.last(n) {
			err = errors.Join(err, s.write(pod))
		}
	case "burst":
		for range n {
			err = errors.Join(err, s.write(s.first()))
		}
	case "delete":
		err = s.remove(n)
	case "other":
		err = s.other(n)
	case "pause":
		s.mu.Lock()
		if s.gate == nil {
			s.gate = make(chan struct{})
		}
		s.mu.Unlock()
	case "resume":
		s.release()
	case "drop":
		s.server.DropWatches("pods")
	case "expire", "relist":
		err = s.expire(0)
	case "vanish":
		err = s.expire(n)
	case "slow":
		s.slow.Store(ms)
	case "work":
		s.work.Store(ms)
	case "crash":
		s.again <- struct{}{}
	case "workers":
		err = s.queue.SetWorkers(n)
	case "fail":
		s.failing.Store(values["percent"] != "0")
	case "resync":
		err = s.resync()
	}
	return action, err
}

func (s *Stand) reset() error {
	s.release()
	s.slow.Store(0)
	s.work.Store(0)
	s.failing.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.resyncs {
		r.Remove()
	}
	s.resyncs = nil
	return s.queue.SetWorkers(4)
}

func (s *Stand) resync() error {
	r, err := s.informer.Load().AddHandler(func(informer.Event[*corev1.Pod]) {}, informer.HandlerOptions{Name: "resync", Resync: time.Minute})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resyncs = append(s.resyncs, r)
	return err
}

func (s *Stand) all() []apitest.Object {
	all, _, _ := s.server.List(pods, "")
	return all
}

// first is one of the pods of the beginning, always the same.
func (s *Stand) first() apitest.Object {
	all := s.all()
	return all[slices.IndexFunc(all, func(o apitest.Object) bool { return strings.HasPrefix(o.GetName(), "pod-") })]
}

func (s *Stand) last(n int) []apitest.Object {
	all := s.all()
	return all[len(all)-min(n, len(all)-1):]
}

func (s *Stand) write(pod apitest.Object) error {
	s.mu.Lock()
	s.writes++
	pod = pod.DeepCopyObject().(apitest.Object)
	pod.SetAnnotations(map[string]string{"writes": strconv.Itoa(s.writes)})
	pod.SetResourceVersion("")
	s.mu.Unlock()
	_, err := s.server.Update(pod)
	return err
}

func (s *Stand) remove(n int) (err error) {
	for _, pod := range slices.Backward(s.last(n)) {
		err = errors.Join(err, s.server.Delete(pods, types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetName()}))
	}
	return err
}

// other has n objects of another resource come and go, which is two writes each, as the laboratory has.
func (s *Stand) other(n int) error {
	c := &corev1.ConfigMap{}
	c.Namespace, c.Name = "ns-0", "other"
	for range n {
		if _, err := s.server.Create(c); err != nil {
			return err
		}
		if err := s.server.Delete(corev1.SchemeGroupVersion.WithResource("configmaps"), types.NamespacedName{Namespace: c.Namespace, Name: c.Name}); err != nil {
			return err
		}
	}
	return nil
}

// expire has n pods deleted while nobody can watch, and the server forget its past.
func (s *Stand) expire(n int) error {
	fault := s.server.Inject(apitest.Fault{Verb: "watch", Resource: "pods", Action: apitest.Code(503, 0)})
	defer fault.Remove()
	s.server.DropWatches("pods")
	for s.server.Watches("pods") > 0 {
		time.Sleep(time.Millisecond)
	}
	err := errors.Join(s.other(1), s.remove(n), s.other(1))
	s.server.Compact()
	return err
}
