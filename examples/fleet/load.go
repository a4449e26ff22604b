package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// load is a running load test.
type load struct {
	objects, clients, workers, rate int
	steady, lease                   time.Duration
	watch                           bool
	namespace, kubeconfig           string
	out                             io.Writer

	robots   *rest.Resource[*Robot]
	routes   *rest.Resource[*corev1.ConfigMap]
	watcher  *watcher
	replicas []*process              // the live replicas, the leader first
	started  int                     // number of replicas so far
	orders   int64                   // number of the last order
	fail     context.CancelCauseFunc // cancels the whole test
	report   report
}

// loadTest starts a server, measures the controller on it, and prints a table.
func loadTest(ctx context.Context, args []string, out io.Writer) error {
	l := &load{watcher: newWatcher(), out: out}
	flags := flag.NewFlagSet("fleet", flag.ExitOnError)
	flags.IntVar(&l.objects, "objects", 10_000, "how many robots there are")
	flags.IntVar(&l.clients, "clients", 16, "how many requests the load test sends at the same time")
	flags.IntVar(&l.workers, "workers", 8, "workers of each replica")
	flags.IntVar(&l.rate, "rate", 200, "orders per second in the steps with an even pace")
	flags.DurationVar(&l.steady, "steady", 20*time.Second, "how long a step with an even pace lasts")
	flags.DurationVar(&l.lease, "lease", 15*time.Second, "how long other replicas wait for a leader that is gone")
	flags.BoolVar(&l.watch, "watch", false, "replicas watch the Lease")
	flags.StringVar(&l.namespace, "namespace", "default", "namespace of all objects")
	flags.StringVar(&l.kubeconfig, "kubeconfig", "", "kubeconfig of a cluster to use instead of a server of its own; the namespace must have no robots")
	_ = flags.Parse(args) // Parse exits on errors.
	if l.objects < 1 || l.clients < 1 || l.rate < 1 {
		return errors.New("-objects, -clients and -rate must be positive")
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	l.fail = fail
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if l.kubeconfig == "" {
		l.logf("an API server in a process of its own")
		api, err := startProcess("the server", nil, fail, "server")
		if err != nil {
			return err
		}
		// This runs after the replicas have ended, so none of them loses the server.
		defer func() { _ = api.stop() }()
		url, err := api.await(ctx, "listening")
		if err != nil {
			return err
		}
		l.kubeconfig = filepath.Join(dir, "kubeconfig")
		if err := kubeconfig.Write(l.kubeconfig, kubeconfig.Connection{Config: rest.Config{Host: url}}); err != nil {
			return err
		}
	}
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: l.kubeconfig})
	if err != nil {
		return err
	}
	client, err := rest.NewClient(connection.Config, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	if err := define(ctx, client); err != nil {
		return err
	}
	l.robots = rest.Must(rest.For[*Robot](client, rest.ResourceOptions{Resource: robots, Kind: robotKind.Kind, Namespace: l.namespace}))
	l.routes = rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{Namespace: l.namespace, LabelSelector: "example.com/fleet"}))
	seen, err := informer.New(l.robots, informer.Options[*Robot]{Name: "load test"})
	if err != nil {
		return err
	}
	// Unbounded, because this process must not miss a status, even if it is slow.
	if _, err := seen.AddHandler(l.watcher.handle, informer.HandlerOptions{Overflow: informer.Unbounded}); err != nil {
		return err
	}
	err = informer.Run(ctx, l.measure, seen)
	if err == nil {
		err = context.Cause(ctx) // an interrupt, or a process that has ended
	}
	if err != nil {
		return err
	}
	return l.report.print(out, l)
}

// define creates the definition of robots, and waits until the server serves them.
func define(ctx context.Context, client *rest.Client) error {
	document, _, _ := bytes.Cut(manifest, []byte("\n---\n"))
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(document, &definition.Object); err != nil {
		return err
	}
	definitions, err := rest.For[*unstructured.Unstructured](client, rest.ResourceOptions{
		Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	})
	if err != nil {
		return err
	}
	if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for {
		_, err := client.Raw(ctx, "GET", "/apis/"+group.String()+"/"+robots.Resource, rest.RawOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// logf reports the progress of the test.
func (l *load) logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "fleet: "+format+"\n", args...)
}
