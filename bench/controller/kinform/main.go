// Command kinform is the measured controller on packages controller and lease.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/bench/controller/internal/probe"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func main() {
	name := flag.String("name", "widgets", "name of this program, used as User-Agent")
	workers := flag.Int("workers", 1, "how many widgets are reconciled at the same time")
	serve := flag.String("serve", "", "address of the probes, such as :8081")
	elect := flag.Bool("elect", false, "work only while this process has the lease")
	probe.Attach()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *name, *workers, *serve, *elect); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, workers int, serve string, elect bool) error {
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		return err
	}
	connection.Config.UserAgent = name
	client, err := rest.NewClient(connection.Config, rest.Options{Limit: lease.Check})
	if err != nil {
		return err
	}
	defer client.Close()
	opts := controller.Options{Name: "widgets", Serve: serve}
	if elect {
		opts.Elector, err = lease.New(client, types.NamespacedName{Namespace: "default", Name: "widgets"}, lease.Options{})
		if err != nil {
			return err
		}
	}
	m, err := controller.New(client, opts)
	if err != nil {
		return err
	}
	widgets := controller.For[*Widget](m, rest.ResourceOptions{Resource: group.WithResource("widgets"), Kind: "Widget"})
	r := &reconciler{widgets, controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})}
	c := controller.Manage(m, "widgets", widgets, r.reconcile, controller.Settings[*Widget]{Workers: workers})
	controller.Owns(c, r.configMaps, nil)
	return m.Run(ctx)
}

type reconciler struct {
	widgets    *controller.Client[*Widget]
	configMaps *controller.Client[*corev1.ConfigMap]
}

func (r *reconciler) reconcile(ctx context.Context, widget *Widget) (controller.Result, error) {
	probe.CountReconcile(widget.Name)
	if err := r.configure(ctx, widget); err != nil {
		return controller.Done, err
	}
	if widget.Status.Order == widget.Spec.Order {
		return controller.Done, nil
	}
	// Objects in the cache are shared and must not change. So the status is set in a copy.
	changed := *widget
	changed.Status.Order = widget.Spec.Order
	_, err := r.widgets.UpdateStatus(ctx, &changed)
	return controller.Done, err
}

// configure makes the ConfigMap of a widget match the widget.
func (r *reconciler) configure(ctx context.Context, widget *Widget) error {
	have, exists := r.configMaps.Get(types.NamespacedName{Namespace: widget.Namespace, Name: widget.Name})
	switch {
	case !exists:
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name}, Data: widget.data()}
		made.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(widget, group.WithKind("Widget"))}
		_, err := r.configMaps.Create(ctx, made)
		return err
	case !metav1.IsControlledBy(have, widget):
		return fmt.Errorf("ConfigMap %s/%s has another owner", have.Namespace, have.Name)
	case maps.Equal(have.Data, widget.data()):
		return nil
	}
	changed := have.DeepCopy()
	changed.Data = widget.data()
	_, err := r.configMaps.Update(ctx, changed)
	return err
}
