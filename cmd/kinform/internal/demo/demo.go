// Package demo runs the whole pipeline on an API server in the same process, and shows each step
// while it happens.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/rest"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is the type of the pipeline's objects.
type pod = corev1.Pod

// Options are the settings of a run.
type Options struct {
	// Pods is the number of pods at the start, in Namespaces namespaces.
	Pods, Namespaces int

	// Churn is the number of creates, updates and deletes per second. 0 means none.
	Churn float64

	// Faults makes the server drop watches, compact its history, and respond with 429.
	Faults bool

	// Workers is the number of workers of the workqueue.
	Workers int

	// Plain runs the pipeline of package plain.
	Plain bool

	// View serves a page of the run, and Open opens it in a browser.
	View, Open bool

	// Record is the path of a new file for the frames of the page, or "" for none.
	Record string

	experiments

	// For is the duration of the run. With 0 it runs until the context ends.
	For time.Duration
}

// settleWithin limits the wait until the pipeline has caught up with a quiet server. On an idle
// machine, catching up takes milliseconds.
const settleWithin = time.Minute

// run runs the pipeline until its time is over or ctx ends. Then it lets the pipeline catch up,
// drains it and stops it. It returns an error if a stage did not end normally.
func run(ctx context.Context, opts Options, r report) (err error) {
	// A web page can also reach loopback addresses, but it has no token.
	token := rand.Text()
	server := apitest.New(apitest.Options{BearerToken: token})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	page, err := opts.servePage(server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, page.close()) }()
	r.started(opts, server.URL(), page.instructions())
	if opts.Open {
		if err := browse.Open(page.View, page.url); err != nil {
			return err
		}
	}
	if err := apitest.Populate(server, opts.pods(ctx)); err != nil {
		return err
	}
	p, err := opts.pipeline(server.URL(), token, page, r)
	if err != nil {
		return err
	}
	p.start(opts.Workers)
	file, err := page.record(opts.Record)
	if err == nil {
		err = p.sync(ctx, opts.Pods)
	}
	if err == nil {
		err = churn(ctx, server, opts, r)
		r.draining()
		err = errors.Join(err, p.settle(server))
	}
	err = errors.Join(err, p.stop(), file.Close())
	summary := p.summary(versions(server))
	r.summary(summary)
	if err == nil && summary.Stale > 0 {
		err = fmt.Errorf("%d keys were not reconciled in their last state", summary.Stale)
	}
	return err
}

// pipeline returns the pipeline that the options select.
func (o Options) pipeline(url, token string, page *pageServer, r report) (pipeline, error) {
	if o.Plain {
		return newTextbook(url, token, o, r)
	}
	client, err := rest.NewClient(rest.Config{Host: url, BearerToken: rest.NewSecret(token)}, rest.Options{})
	if err != nil {
		return nil, err
	}
	return newTuned(client, o, page, r)
}

// pods generates the initial pods, until ctx ends.
func (o Options) pods(ctx context.Context) iter.Seq[*pod] {
	return func(yield func(*pod) bool) {
		for p := range apitest.Pods(o.Pods, o.podOptions()) {
			if ctx.Err() != nil || !yield(p) {
				return
			}
		}
	}
}

// podOptions returns the options of the pods.
func (o Options) podOptions() apitest.PodOptions { return apitest.PodOptions{Namespaces: o.Namespaces} }

// churn changes pods until the run's time is over or ctx ends. With Options.Faults, it also injects
// faults.
func churn(ctx context.Context, server *apitest.Server, opts Options, r report) (err error) {
	if opts.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, opts.For)
		defer cancel()
	}
	var faults sync.WaitGroup
	if opts.Faults {
		faults.Go(func() { injectFaults(ctx, server, r) })
	}
	if opts.Churn > 0 {
		_, err = server.Churn(ctx, apitest.ChurnOptions{
			PerSecond: opts.Churn,
			Creates:   1, Updates: 6, Deletes: 1,
			Pods: opts.podOptions(),
		})
	}
	<-ctx.Done()
	faults.Wait()
	return err
}

// pipeline is a whole pipeline: list and watch, reflector, DeltaFIFO, store, handler, workqueue and
// workers.
type pipeline interface {
	// start starts the informer and the workers. They have their own contexts, because they have to
	// drain after the context of the run has ended.
	start(workers int)

	// sync waits for the first list, of about total pods.
	sync(ctx context.Context, total int) error

	// settle waits until the store equals the state of the server, which no longer changes. It also
	// waits until the last state of every key has been reconciled.
	settle(server *apitest.Server) error

	// stop drains the workqueue and stops all stages.
	stop() error

	// summary compares the result with the last state of the server, which maps each key to its
	// version.
	summary(last map[types.NamespacedName]string) Summary
}

// versions returns the version of every pod on the server.
func versions(server *apitest.Server) map[types.NamespacedName]string {
	all := make(map[types.NamespacedName]string)
	// Pods are always served.
	objects, _, _ := server.List(corev1.SchemeGroupVersion.WithResource("pods"), "")
	for _, obj := range objects {
		all[types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}] = obj.GetResourceVersion()
	}
	return all
}
