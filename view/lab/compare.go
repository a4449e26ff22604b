package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
)

// comparisons has the last comparison. Only one comparison runs at a time, because two would
// disturb each other's measurements.
type comparisons struct {
	busy atomic.Bool
	last atomic.Pointer[view.Comparison]
}

var errComparing = errors.New("another comparison of lists is in progress: wait for its end")

// Comparison returns the last comparison. While a comparison is being measured, it has the results
// so far.
func (l *Lab) Comparison() *view.Comparison { return l.comparisons.last.Load() }

// compare takes a snapshot of n pods with each method, and returns a summary.
func (c *comparisons) compare(ctx context.Context, n int) (string, error) {
	if !c.busy.CompareAndSwap(false, true) {
		return "", errComparing
	}
	defer c.busy.Store(false)
	server := apitest.New(apitest.Options{Window: 100})
	defer server.Close()
	if err := errors.Join(server.ListenMemory(), apitest.Populate(server, apitest.Pods(n, apitest.PodOptions{}))); err != nil {
		return "", err
	}
	var ended []view.ListMethod
	show := func(now ...view.ListMethod) {
		c.last.Store(&view.Comparison{Objects: n, Methods: slices.Concat(ended, now)})
	}
	show()
	// The server encodes all objects for the first snapshot, so this snapshot is not measured.
	if _, err := snapshot(ctx, server, "list", func(view.ListMethod) {}); err != nil {
		return "", err
	}
	var summaries []string
	for _, how := range []string{"list", "paged", "watchlist"} {
		way, err := snapshot(ctx, server, how, func(way view.ListMethod) { show(way) })
		if err != nil {
			show()
			return "", fmt.Errorf("%s: %w", how, err)
		}
		ended = append(ended, way)
		show()
		summaries = append(summaries, fmt.Sprintf("%s of %d pods: the first after %v, all after %v, memory up to %d MB more", how, n,
			seconds(way.First).Round(100*time.Microsecond), seconds(way.All).Round(time.Millisecond), way.Peak>>20))
	}
	return strings.Join(summaries, "; "), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// reportInterval is the interval at which intermediate measurements are shown.
const reportInterval = 50 * time.Millisecond

// snapshot takes a snapshot with an informer of its own. The measured memory is the memory of the
// whole process, including the server, which encodes the responses. While the snapshot runs,
// snapshot calls the function show with intermediate results.
func snapshot(ctx context.Context, server *apitest.Server, how string, show func(view.ListMethod)) (view.ListMethod, error) {
	way := view.ListMethod{Name: how}
	client, err := rest.NewClient(rest.Config{Host: "http://laboratory", DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return server.DialContext(ctx, network, address)
	}}, rest.Options{Logger: quiet})
	if err != nil {
		return way, err
	}
	defer client.Close()
	pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	if err != nil {
		return way, err
	}
	var began time.Time
	var first atomic.Int64 // time from began to the first object
	objectArrived := func() { first.CompareAndSwap(0, int64(max(time.Since(began), 1))) }
	opts := informer.Options[*corev1.Pod]{Name: "compare", Logger: quiet, Reflector: reflector.Options{
		Logger: quiet, ListMode: listMethods[how].mode, PageSize: listMethods[how].page,
		// The observer gets an object of a list as an item, and an object of a streaming list as an
		// event.
		Observer: &reflector.Observer{OnItem: func(reflector.ItemInfo) { objectArrived() }, OnEvent: func(reflector.EventInfo) { objectArrived() }},
	}}
	if how == "paged" {
		opts.Reflector.PageSize = 500
	}
	inf, err := informer.New(pods, opts)
	if err != nil {
		return way, err
	}
	runtime.GC()
	before := heap()
	var memory curve
	measure := func() {
		memory.add(time.Since(began), heap()-before)
		way.First, way.Memory, way.Peak = time.Duration(first.Load()).Seconds(), slices.Clone(memory.points), memory.peak()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began = time.Now()
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	shown := began
	for synced := false; !synced; {
		select {
		case <-inf.Synced():
			synced = true
		case err := <-ended:
			return way, errors.Join(err, context.Cause(ctx))
		case <-tick.C:
		}
		if time.Since(shown) < reportInterval && !synced {
			memory.add(time.Since(began), heap()-before)
			continue
		}
		shown = time.Now()
		measure()
		if !synced {
			show(way)
		}
	}
	way.All = time.Since(began).Seconds()
	stop()
	return way, <-ended
}

// heap returns the bytes of all objects on the heap, including garbage that has not been collected
// yet.
func heap() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
