// Command mirror is the program of docs/controllers.md: for every ConfigMap with the label
// mirror=yes it keeps a Secret with the same data.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func main() {
	serve := flag.String("serve", "127.0.0.1:8080", "address of /livez, /readyz and /metrics")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *serve); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, serve string) error {
	connection, err := kubeconfig.Load(kubeconfig.Options{})
	if err != nil {
		return err
	}
	collected, err := metrics.New(metrics.Options{})
	if err != nil {
		return err
	}
	// With this Limit, no request begins after the lease is lost.
	client, err := rest.NewClient(connection.Config, rest.Options{Limit: lease.Check, Observer: collected.ClientObserver("manager", nil)})
	if err != nil {
		return err
	}
	defer client.Close()
	elector, err := lease.New(client, types.NamespacedName{Namespace: "default", Name: "mirror"}, lease.Options{})
	if err != nil {
		return err
	}
	m, err := newManager(client, controller.Options{Name: "mirror", Elector: elector, Serve: serve, Observer: collected.ControllerObserver()})
	if err != nil {
		return err
	}
	collected.Manager(m)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collected)
	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return m.Run(ctx)
}

// mirror has the clients and the recorder of the reconcile.
type mirror struct {
	secrets *controller.Client[*corev1.Secret]
	events  *events.Recorder
}

// newManager returns the manager that runs the controller. The tests call it, too.
func newManager(client *rest.Client, opts controller.Options) (*controller.Manager, error) {
	m, err := controller.New(client, opts)
	if err != nil {
		return nil, err
	}
	recorder, err := events.New(client, "example.com/mirror", events.Options{})
	if err != nil {
		return nil, err
	}
	m.Add("events", recorder.Run, controller.PartOptions{})

	// The caches contain only objects with this label.
	labelled := rest.ResourceOptions{LabelSelector: "mirror=yes"}
	configMaps := controller.For[*corev1.ConfigMap](m, labelled)
	r := &mirror{secrets: controller.For[*corev1.Secret](m, labelled), events: recorder}
	c := controller.Manage(m, "mirror", configMaps, r.reconcile, controller.Settings[*corev1.ConfigMap]{Workers: 4})
	controller.Owns(c, r.secrets, nil)
	return m, nil
}

// reconcile copies the data of the ConfigMap to the Secret. It never runs twice at a time for one
// ConfigMap. Its cache has the writes of the previous reconcile of that ConfigMap.
func (r *mirror) reconcile(ctx context.Context, wanted *corev1.ConfigMap) (controller.Result, error) {
	key := types.NamespacedName{Namespace: wanted.Namespace, Name: wanted.Name}
	data := make(map[string][]byte)
	for name, text := range wanted.Data {
		data[name] = []byte(text)
	}
	have, exists := r.secrets.Get(key)
	if !exists {
		_, err := r.secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"mirror": "yes"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(wanted, corev1.SchemeGroupVersion.WithKind("ConfigMap"))},
			},
			Data: data,
		})
		if err == nil {
			r.events.Normal(wanted, "Mirrored", "made the secret %s", key.Name)
		}
		return controller.Done, err
	}
	if !metav1.IsControlledBy(have, wanted) {
		wrong := fmt.Errorf("the secret %s exists already, and has another owner", key)
		r.events.Warning(wanted, "Taken", "%v", wrong)
		return controller.Done, controller.Terminal(wrong) // A retry would not help.
	}
	if maps.EqualFunc(have.Data, data, bytes.Equal) {
		return controller.Done, nil
	}
	changed := have.DeepCopy() // Cached objects are shared.
	changed.Data = data
	_, err := r.secrets.Update(ctx, changed)
	return controller.Done, err
}
