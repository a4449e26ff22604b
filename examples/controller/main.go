// Command controller is a complete controller: for every Website it keeps a Deployment, a DNS
// record (here a file), and a status that reports its progress.
//
// A reconcile compares the wanted state with the present state, and corrects the difference. It
// keeps no state between two runs, so it may end anywhere, and the next run continues from the
// state that it finds. Package controller connects all the other parts.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os/signal"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/workqueue"
)

func main() {
	dir := flag.String("zone", ".", "directory for the DNS records")
	address := flag.String("serve", "", "address of /livez and /readyz, such as :8080")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, zone(*dir), *address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, zone zone, address string) error {
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		return err
	}
	client, err := rest.NewClient(connection.Config, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	m, err := newManager(client, zone, controller.Options{Name: "websites", Serve: address, Logger: slog.Default()})
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// reconciler has the clients and the recorder of the reconcile.
type reconciler struct {
	sites       *controller.Client[*Website]
	deployments *controller.Client[*appsv1.Deployment]
	events      *events.Recorder
	zone        zone
}

// newManager returns the manager that runs the controller.
func newManager(client *rest.Client, zone zone, opts controller.Options) (*controller.Manager, error) {
	m, err := controller.New(client, opts)
	if err != nil {
		return nil, err
	}
	recorder, err := events.New(client, "example.com/websites", events.Options{Logger: opts.Logger})
	if err != nil {
		return nil, err
	}
	// It ends after the workers, and sends their events.
	m.Add("events", recorder.Run, controller.PartOptions{})
	r := &reconciler{
		sites:       controller.For[*Website](m, rest.ResourceOptions{Resource: websites, Kind: websiteKind.Kind}),
		deployments: controller.For[*appsv1.Deployment](m, rest.ResourceOptions{}),
		events:      recorder,
		zone:        zone,
	}
	c := controller.Manage(m, "websites", r.sites, r.reconcile, controller.Settings[*Website]{
		Workers: 4,
		// Our own writes of finalizer and status do not change the generation, so they are ignored.
		When:  predicate.GenerationChanged[*Website],
		Queue: workqueue.Options[types.NamespacedName]{DrainTimeout: 10 * time.Second},
	})
	controller.Owns(c, r.deployments, nil)
	return m, nil
}

func (r *reconciler) reconcile(ctx context.Context, cached *Website) (controller.Result, error) {
	key := cached.key()
	// The finalizer comes first. Otherwise the Website could vanish and leave its record behind.
	clean := func(context.Context, *Website) error { return r.zone.remove(key) }
	site, gone, err := r.sites.Finalize(ctx, cached, "example.com/dns-record", clean)
	if gone || err != nil {
		return controller.Done, err // The queue retries the key after an error.
	}
	if wrong := site.Spec.validate(); wrong != nil {
		// Do not retry: only a new spec can help, and a new spec causes an event.
		return controller.Done, cmp.Or(r.report(ctx, site, 0, wrong), controller.Terminal(wrong))
	}
	if err := r.zone.set(key, site.Spec.Host); err != nil {
		return controller.Done, err
	}
	deployment, err := r.deploy(ctx, site)
	if err != nil {
		return controller.Done, err
	}
	// No event reports a lost record, so the reconcile has to check from time to time.
	return controller.After(10 * time.Minute), r.report(ctx, site, deployment.Status.ReadyReplicas, nil)
}

// deploy creates or updates the Deployment of the Website.
func (r *reconciler) deploy(ctx context.Context, site *Website) (written *appsv1.Deployment, err error) {
	key := site.key()
	have, exists := r.deployments.Get(key)
	if !exists {
		labels := map[string]string{"website": string(site.UID)}
		have = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		have.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(site, websiteKind)}
		have.Spec.Selector, have.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
		have.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
	} else if !metav1.IsControlledBy(have, site) {
		return nil, fmt.Errorf("deployment %s exists already, and has another owner", key)
	}
	// All readers share the objects of a cache, so change a copy. Change only the fields that the
	// Website determines. The server has set the other fields.
	want := have.DeepCopy()
	want.Spec.Replicas, want.Spec.Template.Spec.Containers[0].Image = &site.Spec.Replicas, site.Spec.Image
	switch {
	case !exists:
		written, err = r.deployments.Create(ctx, want)
	case equality.Semantic.DeepEqual(have.Spec, want.Spec):
		return have, nil
	default:
		written, err = r.deployments.Update(ctx, want)
	}
	if err == nil {
		r.events.Normal(site, "Deployed", "wrote deployment %s", key.Name)
	}
	return written, err
}

// report writes the status if it has changed: an unnecessary write costs a request, or a conflict.
func (r *reconciler) report(ctx context.Context, site *Website, replicas int32, wrong error) error {
	changed := site.DeepCopy() // The cached site is shared by all readers.
	changed.Status.ObservedGeneration, changed.Status.ReadyReplicas = site.Generation, replicas
	news := meta.SetStatusCondition(&changed.Status.Conditions, site.ready(replicas, wrong))
	if equality.Semantic.DeepEqual(site.Status, changed.Status) {
		return nil
	}
	if wrong != nil && news {
		r.events.Warning(site, "InvalidSpec", "%v", wrong)
	}
	_, err := r.sites.UpdateStatus(ctx, changed)
	return err
}
