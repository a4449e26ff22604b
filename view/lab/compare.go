package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// compare takes a snapshot of n pods in each way, and says what it took.
func compare(ctx context.Context, n int) (string, error) {
	server := apitest.New(apitest.Options{Window: 100})
	defer server.Close()
	if err := errors.Join(server.ListenMemory(), apitest.Populate(server, apitest.Pods(n, apitest.PodOptions{}))); err != nil {
		return "", err
	}
	var said []string
	for _, how := range []string{"list", "paged", "watchlist"} {
		sentence, err := snapshot(ctx, server, how, n)
		if err != nil {
			return "", fmt.Errorf("%s: %w", how, err)
		}
		said = append(said, sentence)
	}
	return strings.Join(said, "; "), nil
}

// snapshot has an informer of its own take a snapshot. Memory is that of the whole process, server included, which
// encodes the answers.
func snapshot(ctx context.Context, server *apitest.Server, how string, n int) (string, error) {
	client, err := rest.NewClient(rest.Config{Host: "http://laboratory", DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return server.DialContext(ctx, network, address)
	}}, rest.Options{Logger: quiet})
	if err != nil {
		return "", err
	}
	defer client.Close()
	pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	if err != nil {
		return "", err
	}
	var first time.Duration
	began := time.Now()
	opts := informer.Options[*corev1.Pod]{Name: "compare", Logger: quiet, Reflector: reflector.Options{
		Logger: quiet, ListMode: fetches[how].mode, PageSize: fetches[how].page,
		Observer: &reflector.Observer{OnItem: func(reflector.ItemInfo) {
			if first == 0 {
				first = max(time.Since(began), 1)
			}
		}},
	}}
	if how == "paged" {
		opts.Reflector.PageSize = 500
	}
	inf, err := informer.New(pods, opts)
	if err != nil {
		return "", err
	}
	runtime.GC()
	before := heap()
	most := before
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	began = time.Now()
	ended := make(chan error, 1)
	go func() { ended <- inf.Run(ctx) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for synced := false; !synced; {
		select {
		case <-inf.Synced():
			synced = true
		case err := <-ended:
			return "", errors.Join(err, context.Cause(ctx))
		case <-tick.C:
		}
		most = max(most, heap())
	}
	took := time.Since(began)
	stop()
	err = <-ended
	return fmt.Sprintf("%s of %d pods: the first after %v, all after %v, memory up to %d MB more", how, n,
		first.Round(100*time.Microsecond), took.Round(time.Millisecond), (most-before)>>20), err
}

// heap returns the bytes of objects, dead ones included that have not been collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
