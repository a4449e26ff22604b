// Command controller is a complete controller: for every Website it keeps a Deployment,
// a DNS record (a file, here) and a status that says how far it is.
//
// Handlers put keys into a queue. A worker takes a key, compares what is wanted with
// what there is, and does what is missing. It remembers nothing between two turns, so
// it may end anywhere, and whoever begins again finds its way.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/finalizer"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/workqueue"
)

func main() {
	dir := flag.String("zone", ".", "directory for the DNS records")
	address := flag.String("serve", "", "address of /readyz, such as :8080")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err == nil {
		err = run(ctx, connection.Config, zone(*dir), serveAt(*address), slog.Default())
	}
	if err != nil {
		log.Fatal(err)
	}
}

type controller struct {
	sites           *rest.Resource[*Website] // on the server, to be written
	deployments     *rest.Resource[*appsv1.Deployment]
	events          *rest.Resource[*eventsv1.Event]
	siteCache       *informer.Informer[*Website] // here, to be read
	deploymentCache *informer.Informer[*appsv1.Deployment]
	queue           *workqueue.Queue[types.NamespacedName]
	zone            zone
	logger          *slog.Logger
}

// run works until ctx ends, and returns when all that it started has ended.
func run(ctx context.Context, config rest.Config, zone zone, serve serve, logger *slog.Logger) error {
	client, err := rest.NewClient(config, rest.Options{Logger: logger})
	if err != nil {
		return err
	}
	defer client.Close()
	c := &controller{zone: zone, logger: logger}
	c.sites = rest.Must(rest.For[*Website](client, rest.ResourceOptions{Resource: websites}))
	c.deployments = rest.Must(rest.For[*appsv1.Deployment](client, rest.ResourceOptions{}))
	c.events = rest.Must(rest.For[*eventsv1.Event](client, rest.ResourceOptions{}))
	c.queue = workqueue.New(workqueue.Options[types.NamespacedName]{Name: "websites", DrainTimeout: 10 * time.Second, Logger: logger})

	var errs [4]error
	c.siteCache, errs[0] = informer.New(c.sites, informer.Options[*Website]{Logger: logger})
	c.deploymentCache, errs[1] = informer.New(c.deployments, informer.Options[*appsv1.Deployment]{Logger: logger})
	// Keys are queued, not objects: a key that is queued twice has one turn, which reads the
	// newest state. Our own writes, finalizer and status, change no generation: no news.
	_, errs[2] = c.siteCache.AddHandler(predicate.When(predicate.GenerationChanged, enqueue.Object[*Website](c.queue)), informer.HandlerOptions{})
	_, errs[3] = c.deploymentCache.AddHandler(enqueue.Owner[*appsv1.Deployment](c.queue, websiteKind.GroupKind()), informer.HandlerOptions{})
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	serve(c.ready)
	// No turn begins before the caches are synced: what is not in a cache may not be there yet.
	// The caches outlive ctx, because workers read them until the queue is drained.
	return informer.RunUntil(context.WithoutCancel(ctx), ctx, func(working context.Context) error {
		return c.queue.RunUntil(working, ctx, 4, c.reconcile)
	}, c.siteCache, c.deploymentCache)
}

func (c *controller) reconcile(ctx context.Context, key types.NamespacedName) error {
	cached, exists := c.siteCache.Store().Get(key)
	if !exists {
		return nil // Its record went before it, and the garbage collector sees to the Deployment.
	}
	// The finalizer comes first, or the Website could go, and nobody would know of its record.
	clean := func(context.Context, *Website) error { return c.zone.remove(key) }
	site, gone, err := finalizer.Handle(ctx, c.sites, cached, "example.com/dns-record", clean)
	if gone || err != nil {
		return err // Whatever fails is tried again, later and later.
	}
	if site != cached {
		c.wrote(key, c.siteCache.Store().WaitRV, site)
	}
	if wrong := site.Spec.validate(); wrong != nil {
		// Not tried again: nothing mends it but another spec, and that is an event.
		return cmp.Or(c.report(ctx, site, 0, wrong), workqueue.Drop(wrong))
	}
	if err := c.zone.set(key, site.Spec.Host); err != nil {
		return err
	}
	deployment, err := c.deploy(ctx, site)
	if err != nil {
		return err
	}
	err = c.report(ctx, site, deployment.Status.ReadyReplicas, nil)
	return cmp.Or(err, workqueue.RequeueAfter(10*time.Minute)) // No event tells of a lost record, so look.
}

// deploy sees to it that there is the Deployment that the Website wants.
func (c *controller) deploy(ctx context.Context, site *Website) (written *appsv1.Deployment, err error) {
	key := site.key()
	have, exists := c.deploymentCache.Store().Get(key)
	if !exists {
		labels := map[string]string{"website": string(site.UID)}
		have = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		have.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(site, websiteKind)}
		have.Spec.Selector, have.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
		have.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
	} else if !metav1.IsControlledBy(have, site) {
		return nil, fmt.Errorf("deployment %s is there, and is not ours", key)
	}
	// Objects of a cache are shared, so a copy is changed, and only in what the Website
	// has a say in: the server has filled in the rest.
	want := have.DeepCopy()
	want.Spec.Replicas, want.Spec.Template.Spec.Containers[0].Image = &site.Spec.Replicas, site.Spec.Image
	switch {
	case !exists:
		written, err = c.deployments.Create(ctx, want, metav1.CreateOptions{})
	case equality.Semantic.DeepEqual(have.Spec, want.Spec):
		return have, nil
	default:
		written, err = c.deployments.Update(ctx, want, metav1.UpdateOptions{})
	}
	if err == nil {
		c.wrote(key, c.deploymentCache.Store().WaitRV, written)
		c.tell(ctx, site, corev1.EventTypeNormal, "Deployed", "wrote deployment "+key.Name)
	}
	return written, err
}

// report writes the status if it has changed: any other write costs a request, or a conflict.
func (c *controller) report(ctx context.Context, site *Website, replicas int32, wrong error) error {
	changed := site.DeepCopy() // The site is the cache's, which shares it with all who read.
	changed.Status.ObservedGeneration, changed.Status.ReadyReplicas = site.Generation, replicas
	news := meta.SetStatusCondition(&changed.Status.Conditions, site.ready(replicas, wrong))
	if equality.Semantic.DeepEqual(site.Status, changed.Status) {
		return nil
	}
	if wrong != nil && news {
		c.tell(ctx, site, corev1.EventTypeWarning, "InvalidSpec", wrong.Error())
	}
	written, err := c.sites.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	if err == nil {
		c.wrote(site.key(), c.siteCache.Store().WaitRV, written)
	}
	return err
}

// wrote holds the key back until the cache has what was written. A turn that saw an older
// state would do all of it again: create what exists, and fail by conflicts.
func (c *controller) wrote(key types.NamespacedName, waitRV func(context.Context, string) error, object metav1.Object) {
	c.queue.Park(key, func(ctx context.Context) error { return waitRV(ctx, object.GetResourceVersion()) })
}

// tell makes an event for those who look at the Website. That it fails is no reason to fail.
func (c *controller) tell(ctx context.Context, site *Website, kind, reason, note string) {
	_, err := c.events.Create(ctx, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, GenerateName: site.Name + "-"},
		Regarding:  corev1.ObjectReference{APIVersion: site.APIVersion, Kind: site.Kind, Namespace: site.Namespace, Name: site.Name, UID: site.UID},
		EventTime:  metav1.NowMicro(), Type: kind, Reason: reason, Action: "Reconcile", Note: note,
		ReportingController: "example.com/websites", ReportingInstance: cmp.Or(os.Getenv("POD_NAME"), "websites"),
	}, metav1.CreateOptions{})
	if err != nil {
		c.logger.Warn("event not written", "website", site.key(), "err", err)
	}
}
