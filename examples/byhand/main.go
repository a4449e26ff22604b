// Command byhand is a controller that does not use package controller. It puts the parts together
// here, one by one, and the comments say why each step is necessary. Read it from top to bottom.
//
// It keeps a copy of the ConfigMap "settings" of namespace "default" in every namespace with the
// label settings=shared. If a copy is changed or deleted, the controller restores it. The
// controller may run in several replicas, and only the leader works.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/workqueue"
)

// original is the ConfigMap that is copied.
var original = types.NamespacedName{Namespace: "default", Name: "settings"}

func main() {
	identity := flag.String("identity", "", "name of this replica in the Lease; by default derived from the host name")
	flag.Parse()
	// A cluster ends a process with SIGTERM. By default, the process then has 30 seconds.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// If a replica was suspended for a minute, it has lost the lease, but its code may not have
	// noticed yet. With Check, the client checks the lease before each request.
	client, err := rest.NewClient(connection.Config, rest.Options{Limit: lease.Check})
	if err != nil {
		log.Fatal(err)
	}
	err = run(ctx, client, *identity, slog.Default())
	client.Close()
	if err != nil {
		log.Fatal(err) // A replica that has lost the lease ends here; the cluster restarts it.
	}
}

// run puts the parts together, and returns when all of them have ended.
func run(ctx context.Context, client *rest.Client, identity string, logger *slog.Logger) error {
	// 1. Caches. The server applies the selectors: other objects are neither sent nor stored. The
	// cached ConfigMaps have the name "settings": the original and the copies.
	namespaces, err := cacheOf[*corev1.Namespace](client, rest.ResourceOptions{LabelSelector: "settings=shared"}, logger)
	if err != nil {
		return err
	}
	configMaps, err := cacheOf[*corev1.ConfigMap](client, rest.ResourceOptions{FieldSelector: "metadata.name=" + original.Name}, logger)
	if err != nil {
		return err
	}

	// 2. A queue of names of namespaces. It hands out a name once, however often the name was
	// added, and never to two workers at once. It counts the failures of each name.
	queue := workqueue.New(workqueue.Options[string]{Name: "settings", DrainTimeout: 10 * time.Second, Logger: logger})

	// 3. Handlers convert changes to names. They do nothing else: a handler is called once for a
	// change and cannot fail, while a reconcile can be retried.
	if _, err := namespaces.AddHandler(func(e informer.Event[*corev1.Namespace]) { queue.Add(e.New.Name) }, informer.HandlerOptions{}); err != nil {
		return err
	}
	if _, err := configMaps.AddHandler(func(e informer.Event[*corev1.ConfigMap]) {
		if e.Key != original {
			queue.Add(e.Key.Namespace)
			return
		}
		for key := range namespaces.Store().Keys() {
			// A change of the original concerns all namespaces.
			queue.Add(key.Name)
		}
	}, informer.HandlerOptions{}); err != nil {
		return err
	}

	// 4. Events for people. Recording never blocks, and Run sends the recorded events. Run starts
	// first and ends last, so that the events of the last reconcile are sent. Its context does not
	// end with ctx, but when everything else has returned.
	recorder, err := events.New(client, "example.com/settings", events.Options{Logger: logger})
	if err != nil {
		return err
	}
	sending, endSending := context.WithCancel(context.WithoutCancel(ctx))
	var sender sync.WaitGroup
	sender.Go(func() { _ = recorder.Run(sending) })
	defer sender.Wait()
	defer endSending()

	// 5. The lease. Its default durations are the defaults of client-go.
	elector, err := lease.New(client, types.NamespacedName{Namespace: original.Namespace, Name: "settings-controller"},
		lease.Options{Identity: identity, Logger: logger})
	if err != nil {
		return err
	}

	// 6. The order of everything. Each function gets two contexts, because there are two ways to
	// end:
	//
	//	ctx ends: the process should end. Workers finish the queue, then the lease is
	//	released, then the caches end. The context that is passed down stays alive meanwhile.
	//
	//	The context that is passed down ends: a cache failed, or the lease is lost. Then
	//	another replica may be at work, and everything ends at once.
	c := &controller{namespaces: namespaces, configMaps: configMaps, queue: queue, recorder: recorder}
	if c.writeClient, err = rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}); err != nil {
		return err
	}
	return informer.RunUntil(context.WithoutCancel(ctx), ctx, func(working context.Context) error {
		// The caches are complete. A standby keeps its caches as well, so it can start at once.
		return elector.RunUntil(working, ctx, func(leading context.Context) error {
			return queue.RunUntil(leading, ctx, 4, c.reconcile)
		})
	}, namespaces, configMaps)
}

// cacheOf returns an informer for informer.RunUntil to run.
func cacheOf[T any](client *rest.Client, selected rest.ResourceOptions, logger *slog.Logger) (*informer.Informer[T], error) {
	resource, err := rest.For[T](client, selected)
	if err != nil {
		return nil, err
	}
	return informer.New(resource, informer.Options[T]{Name: resource.String(), Logger: logger})
}

// controller has the caches, clients and queue of the reconcile.
type controller struct {
	namespaces  *informer.Informer[*corev1.Namespace]
	configMaps  *informer.Informer[*corev1.ConfigMap]
	writeClient *rest.Resource[*corev1.ConfigMap]
	queue       *workqueue.Queue[string]
	recorder    *events.Recorder
}

// reconcile compares the wanted state of a namespace with the present state. It gets the name and
// not the events that led to the reconcile, so its result does not depend on them. After an error,
// the queue retries the name at longer and longer intervals.
func (c *controller) reconcile(ctx context.Context, name string) error {
	namespace, wanted := c.namespaces.Store().Get(types.NamespacedName{Name: name})
	from, exists := c.configMaps.Store().Get(original)
	if !wanted || !exists || name == original.Namespace || namespace.DeletionTimestamp != nil {
		return nil // The copies stay, because they may be in use.
	}
	key := types.NamespacedName{Namespace: name, Name: original.Name}
	have, exists := c.configMaps.Store().Get(key)
	var written *corev1.ConfigMap
	var err error
	switch {
	case !exists:
		copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: original.Name}, Data: from.Data, BinaryData: from.BinaryData}
		written, err = c.writeClient.Create(ctx, copied, metav1.CreateOptions{})
	case maps.Equal(have.Data, from.Data) && maps.EqualFunc(have.BinaryData, from.BinaryData, func(a, b []byte) bool { return string(a) == string(b) }):
		return nil
	default:
		// All readers share the objects of a cache, so change a copy. The copy has the version that
		// was read. If another client has written the object since, the server refuses the update.
		changed := have.DeepCopy()
		changed.Data, changed.BinaryData = from.Data, from.BinaryData
		written, err = c.writeClient.Update(ctx, changed, metav1.UpdateOptions{})
	}
	if apierrors.IsForbidden(err) {
		c.recorder.Warning(namespace, "CopyForbidden", "the settings cannot be written to this namespace: %v", err)
	}
	if err != nil {
		return fmt.Errorf("namespace %s: %w", name, err)
	}
	c.recorder.Normal(written, "Copied", "the settings were copied from version %s", from.ResourceVersion)
	// The cache receives the write a moment later. Until then, the name is parked. Otherwise the
	// next reconcile would see the old state, and write again.
	c.queue.Park(name, func(ctx context.Context) error {
		return c.configMaps.Store().WaitRV(ctx, written.ResourceVersion)
	})
	return nil
}
