package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	applyv1 "k8s.io/client-go/applyconfigurations/core/v1"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/apply"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/consistencydetector"
	"k8s.io/client-go/util/exec"
	"k8s.io/client-go/util/homedir"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/client-go/util/workqueue"
)

func tryHelpers() {
	tryAlone("home directory", func(o *outcome) {
		old := os.Getenv("HOME")
		defer func() { _ = os.Setenv("HOME", old) }()
		for _, home := range []string{"", "/x/y", "relative", "/"} {
			_ = os.Setenv("HOME", home)
			o.line(home, homedir.HomeDir())
		}
	})
	try("exit errors", func(o *outcome) {
		for _, e := range []exec.CodeExitError{{Err: errors.New("x"), Code: 3}, {Err: errors.New("y")}, {Err: errors.New("z"), Code: -1}} {
			var as exec.ExitError = e
			o.line(as.Error(), as.String(), as.Exited(), as.ExitStatus(), fmt.Sprintf("%T %v", e, e))
		}
		o.panics("no error", func() { _ = exec.CodeExitError{}.Error() })
	})
	try("connection rotation", tryConnections)
	try("watch lists: options", func(o *outcome) {
		for _, options := range []metav1.ListOptions{{}, {ResourceVersion: "0"}, {ResourceVersion: "5"}, {ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchExact}, {ResourceVersion: "5", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, {Limit: 5}, {Continue: "c"},
			{Watch: true}, {SendInitialEvents: new(bool)}, {LabelSelector: "a in ("}, {FieldSelector: "a=b,c"}, {LabelSelector: "a b", FieldSelector: "c"}, {AllowWatchBookmarks: true, LabelSelector: "a=b", FieldSelector: "x=y", TimeoutSeconds: new(int64)}, {ResourceVersionMatch: "x"}, {ResourceVersion: "0", Limit: 3}, {ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan},
			{ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, {Watch: true, SendInitialEvents: new(bool)}, {Watch: true, SendInitialEvents: new(bool), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, {Watch: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, {Continue: "c", ResourceVersion: "5"}, {Limit: 5, ResourceVersion: "5"}} {
			prepared, ok, err := watchlist.PrepareWatchListOptionsFromListOptions(options)
			o.line(text(options), text(prepared), ok, kindOf(err))
		}
	})
	try("watch lists: clients", func(o *outcome) {
		real := kubernetes.NewForConfigOrDie(serve(o).config())
		for name, client := range map[string]any{"a nil": nil, "b real": real, "c fake": fake.NewClientset(), "d dynamic": dynamicfake.NewSimpleDynamicClient(scheme.Scheme), "e core": real.CoreV1(), "f fake core": fake.NewClientset().CoreV1(), "g says so": noStreamingLists{}, "h number": 3} {
			if watchlist.DoesClientNotSupportWatchListSemantics(client) != strings.Contains("c d g", name[:1]) {
				o.line(name)
			}
		}
		o.line(watchlist.DoesClientNotSupportWatchListSemantics(fake.NewClientset()), watchlist.DoesClientNotSupportWatchListSemantics(noStreamingLists{}), watchlist.DoesClientNotSupportWatchListSemantics(real), watchlist.DoesClientNotSupportWatchListSemantics(fake.NewClientset().CoreV1()))
	})
	tryConsistency()
	try("apply: requests", func(o *outcome) {
		s := serve(o)
		defer s.Close()
		client := kubernetes.NewForConfigOrDie(s.config()).CoreV1().RESTClient()
		for name, configuration := range map[string]any{"pod": applyv1.Pod("n", "ns"), "nil": nil, "map": map[string]any{"a": 1}, "channel": make(chan int), "bytes": []byte(`{"x":1}`)} {
			request, err := apply.NewRequest(client, configuration)
			if name == "channel" {
				o.recordOnce(err != nil)
				continue
			}
			if err != nil {
				o.line(kindOf(err))
				continue
			}
			request.Resource("pods").Namespace("ns").Name("n").Do(context.Background())
		}
		all := s.takeRequests()
		sortStrings(all)
		for _, asked := range all {
			o.line(asked)
		}
	})
	tryAlone("metrics: registration", tryMetrics)
}

func sortStrings(all []string) {
	for i := range all {
		for j := i + 1; j < len(all); j++ {
			if all[j] < all[i] {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
}

func tryConnections(o *outcome) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = c.Read(make([]byte, 1)); _ = c.Close() }()
		}
	}()
	var dialer net.Dialer
	tracker := connrotation.NewConnectionTracker()
	d := connrotation.NewDialerWithTracker(dialer.DialContext, tracker)
	a, err := d.Dial("tcp", l.Addr().String())
	o.line(kindOf(err))
	b, err := d.DialContext(context.Background(), "tcp", l.Addr().String())
	o.line(kindOf(err))
	o.line(kindOf(b.Close()), b.Close() != nil)
	d.CloseAll()
	_, err = a.Write([]byte("x"))
	o.line(err != nil, errors.Is(err, net.ErrClosed))
	tracker.CloseAll()
	c, err := connrotation.NewDialer(dialer.DialContext).Dial("tcp", l.Addr().String())
	o.line(kindOf(err))
	tracked := tracker.Track(c)
	tracker.CloseAll()
	_, err = tracked.Write([]byte("x"))
	o.line(errors.Is(err, net.ErrClosed))
	failing := connrotation.NewDialer(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("x") })
	_, err = failing.Dial("tcp", "h")
	o.line(kindOf(err))
	failing.CloseAll()
}

func tryConsistency() {
	tryAlone("consistency: switch", func(o *outcome) {
		o.line(consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
		restore := consistencydetector.SetDataConsistencyDetectionForWatchListEnabledForTest(true)
		o.line(consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
		restore()
		o.line(consistencydetector.IsDataConsistencyDetectionForWatchListEnabled())
	})
	items := func(names ...string) *v1.PodList {
		list := &v1.PodList{}
		for _, name := range names {
			p := named("ns", name, "1")
			p.UID = types.UID(name)
			list.Items = append(list.Items, *p)
		}
		return list
	}
	retrieved := func(names ...string) []*v1.Pod {
		var all []*v1.Pod
		for _, name := range names {
			p := named("ns", name, "1")
			p.UID = types.UID(name)
			all = append(all, p)
		}
		return all
	}
	for name, c := range map[string]struct {
		list    *v1.PodList
		items   []*v1.Pod
		version string
		options metav1.ListOptions
	}{
		"the same": {items("a", "b"), retrieved("a", "b"), "5", metav1.ListOptions{}}, "another order": {items("a", "b"), retrieved("b", "a"), "5", metav1.ListOptions{LabelSelector: "a=b"}}, "one less": {items("a"), retrieved("a", "b"), "5", metav1.ListOptions{}},
		"one more": {items("a", "b"), retrieved("a"), "5", metav1.ListOptions{}}, "nothing": {items(), nil, "5", metav1.ListOptions{}}, "no version": {items("a"), nil, "", metav1.ListOptions{}}, "version 0": {items("a"), nil, "0", metav1.ListOptions{}},
		"a page": {items("a"), nil, "5", metav1.ListOptions{Continue: "c"}}, "a limit": {items("a"), retrieved("a"), "5", metav1.ListOptions{Limit: 3, ResourceVersion: "0"}}, "a limit of another version": {items("a"), retrieved("a"), "5", metav1.ListOptions{Limit: 3, ResourceVersion: "7"}},
		"a match": {items("a"), retrieved("a"), "5", metav1.ListOptions{ResourceVersion: "4", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}}, "a limit and a match": {items("a"), retrieved("a"), "5", metav1.ListOptions{Limit: 3, ResourceVersion: "4", ResourceVersionMatch: metav1.ResourceVersionMatchExact}},
	} {
		try("consistency: "+name, func(o *outcome) {
			for _, fails := range []int{0, 1} {
				calls := 0
				o.panics("check", func() {
					ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
					defer cancel()
					consistencydetector.CheckDataConsistency(ctx, "id", c.version, func(_ context.Context, options metav1.ListOptions) (*v1.PodList, error) {
						o.line(text(options))
						if calls++; calls <= fails {
							return nil, errors.New("x")
						}
						return c.list, nil
					}, func(object any) (any, error) { return object, nil }, c.options, func() []*v1.Pod { return c.items })
				})
				o.line(calls)
			}
		})
	}
}

type anyMetric struct{ o *outcome }

func (m anyMetric) Observe(_ context.Context, verb string, u url.URL, _ time.Duration) {
	m.o.line("latency", verb, u.Path)
}
func (m anyMetric) Increment(_ context.Context, code, method, host string) {
	m.o.line("result", code, method, normalize(host))
}
func (m anyMetric) IncrementRetry(_ context.Context, code, method, host string) {
	m.o.line("retry", code, method, normalize(host))
}

type sizes struct {
	o    *outcome
	name string
}

func (m sizes) Observe(_ context.Context, verb, host string, size float64) {
	m.o.line(m.name, verb, normalize(host), size > 0)
}

type limits struct{ o *outcome }

func (m limits) Observe(_ context.Context, verb string, u url.URL, d time.Duration) {
	m.o.line("limiter", verb, u.Path, d < time.Minute)
}

func tryMetrics(o *outcome) {
	calls := 0
	metrics.Register(metrics.RegisterOpts{
		RequestLatency: anyMetric{o}, RequestResult: anyMetric{o}, RequestRetry: anyMetric{o}, RequestSize: sizes{o, "request"}, ResponseSize: sizes{o, "response"}, RateLimiterLatency: limits{o},
		RegisterFn: func() { calls++ },
	})
	metrics.Register(metrics.RegisterOpts{RequestResult: anyMetric{nil}, RegisterFn: func() { calls += 100 }})
	o.line("registered", calls)
	s := serve(o, &fault{method: "GET", times: 1, handler: statusHandler(429, "TooManyRequests", "no", "Retry-After: 0")})
	defer s.Close()
	client := kubernetes.NewForConfigOrDie(s.config())
	o.line("client", calls)
	metrics.EnsureRegistered()
	o.line("again", calls)
	_, err := client.CoreV1().Pods("ns").Get(context.Background(), "n", metav1.GetOptions{})
	o.line(err != nil)
	_, err = client.CoreV1().ConfigMaps("ns").Create(context.Background(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
	o.line(kindOf(err))
	_, err = client.CoreV1().Pods("ns").List(context.Background(), metav1.ListOptions{Limit: 1})
	o.line(kindOf(err))
	err = client.CoreV1().ConfigMaps("ns").Delete(context.Background(), "m", metav1.DeleteOptions{})
	o.line(kindOf(err))
	s.fail(&fault{times: 1, handler: closeConnection})
	_, err = client.CoreV1().Secrets("ns").Get(context.Background(), "n", metav1.GetOptions{})
	o.line(err != nil)
	// Calls after this time no longer belong to the case.
	time.Sleep(20 * time.Millisecond)
	quiet := &outcome{}
	metrics.RequestLatency, metrics.RequestResult, metrics.RequestRetry, metrics.RequestSize, metrics.ResponseSize, metrics.RateLimiterLatency = anyMetric{quiet}, anyMetric{quiet}, anyMetric{quiet}, sizes{quiet, ""}, sizes{quiet, ""}, limits{quiet}
}

// counts records the metrics of a queue.
type counts struct {
	o    *outcome
	name string
}

func (c counts) Inc()              { c.o.line(c.name, "inc") }
func (c counts) Dec()              { c.o.line(c.name, "dec") }
func (c counts) Set(float64)       {} // is called at varying times
func (c counts) Observe(v float64) { c.o.line(c.name, "observe", v) }

type provider struct{ o *outcome }

func (p provider) of(kind, name string) counts { p.o.line("new", kind, name); return counts{p.o, kind} }
func (p provider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return p.of("depth", name)
}
func (p provider) NewAddsMetric(name string) workqueue.CounterMetric { return p.of("adds", name) }
func (p provider) NewLatencyMetric(name string) workqueue.HistogramMetric {
	return p.of("latency", name)
}
func (p provider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return p.of("work", name)
}
func (p provider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of("unfinished", name)
}
func (p provider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	return p.of("longest", name)
}
func (p provider) NewRetriesMetric(name string) workqueue.CounterMetric {
	return p.of("retries", name)
}

func tryQueues() {
	for _, name := range []string{"q", ""} {
		try(fmt.Sprintf("queue metrics: %q", name), func(o *outcome) {
			clock := testclock.NewFakeClock(time.Unix(1000, 0))
			q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: name, MetricsProvider: provider{o}, Clock: clock})
			q.Add("a")
			q.Add("a")
			clock.Step(2 * time.Second)
			q.Add("b")
			item, _ := q.Get()
			o.line("got", item)
			q.Add("a")
			clock.Step(3 * time.Second)
			q.Done("a")
			q.Done("none")
			item, _ = q.Get()
			o.line("got", item)
			q.ShutDown()
			q.Add("c")
			o.line(q.Len(), q.ShuttingDown())
		})
		try(fmt.Sprintf("queue metrics: delays, %q", name), func(o *outcome) {
			clock := testclock.NewFakeClock(time.Unix(1000, 0))
			q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: name, MetricsProvider: provider{o}, Clock: clock})
			q.AddAfter("a", 0)
			q.AddAfter("a", -time.Second)
			q.AddAfter("b", time.Second)
			q.AddAfter("b", 2*time.Second)
			o.line("len", q.Len())
			q.ShutDown()
			q.AddAfter("c", time.Second)
			o.line("len", q.Len())
		})
		try(fmt.Sprintf("queue metrics: limits, %q", name), func(o *outcome) {
			clock := testclock.NewFakeClock(time.Unix(1000, 0))
			q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute), workqueue.TypedRateLimitingQueueConfig[string]{Name: name, MetricsProvider: provider{o}, Clock: clock})
			q.AddRateLimited("a")
			q.AddRateLimited("a")
			o.line(q.NumRequeues("a"), q.Len())
			q.Forget("a")
			o.line(q.NumRequeues("a"))
			q.ShutDown()
		})
	}
}
