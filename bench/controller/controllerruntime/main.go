// Command controllerruntime is the measured controller on controller-runtime.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kinform/kinform/bench/controller/internal/probe"
)

var waiting = flag.Bool("waiting", false, "reads of the cache wait for writes (EnableReadYourWritesConsistency)")

func main() {
	name := flag.String("name", "widgets", "name of this program, used as User-Agent")
	workers := flag.Int("workers", 1, "how many widgets are reconciled at the same time")
	serve := flag.String("serve", "", "address of the probes, such as :8081")
	elect := flag.Bool("elect", false, "work only while this process has the lease")
	probe.Attach()
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	if err := run(ctrl.SetupSignalHandler(), *name, *workers, *serve, *elect); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, name string, workers int, serve string, elect bool) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(addToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.UserAgent = name
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Client:                        client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: waiting}},
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        serve,
		LeaderElection:                elect,
		LeaderElectionID:              "widgets",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	if err := m.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(m).
		For(&Widget{}).
		Owns(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{m.GetClient()})
	if err != nil {
		return err
	}
	return m.Start(ctx)
}

type reconciler struct {
	client.Client
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	probe.CountReconcile(request.Name)
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, configMap, func() error {
		configMap.Data = widget.data()
		return controllerutil.SetControllerReference(&widget, configMap, r.Scheme())
	})
	if err != nil || widget.Status.Order == widget.Spec.Order {
		return ctrl.Result{}, err
	}
	widget.Status.Order = widget.Spec.Order
	return ctrl.Result{}, r.Status().Update(ctx, &widget)
}
