package metrics_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/metrics"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// This program has a controller, and serves its metrics on loopback.
func Example() {
	server := apitest.New(apitest.Options{})
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	defer server.Close()

	collected := rest.Must(metrics.New(metrics.Options{ClientGoNames: true}))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collected, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	config := rest.Config{Host: server.URL(), DialContext: server.DialContext}
	client := rest.Must(rest.NewClient(config, rest.Options{Observer: collected.ClientObserver("manager", nil)}))
	defer client.Close()
	m := rest.Must(controller.New(client, controller.Options{Observer: collected.ControllerObserver()}))
	collected.Manager(m)
	maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	ctx, stop := context.WithCancel(context.Background())
	controller.Manage(m, "greet", maps, func(context.Context, *corev1.ConfigMap) (controller.Result, error) {
		stop() // in place of SIGTERM
		return controller.Done, nil
	}, controller.Settings[*corev1.ConfigMap]{})

	m.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	listener := rest.Must(net.Listen("tcp", "127.0.0.1:0"))
	endpoint := &http.Server{Handler: m.Handler()} // controller.Options.Serve is its address
	go func() { _ = endpoint.Serve(listener) }()
	defer endpoint.Close()
	rest.Must(server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}))
	fmt.Println(m.Run(ctx))
	shown := []string{"kinform_informer_synced", "kinform_store_objects", `controller_runtime_reconcile_total{controller="greet",result="success"}`}
	for line := range strings.Lines(scrape(listener.Addr())) {
		if slices.ContainsFunc(shown, func(series string) bool { return strings.HasPrefix(line, series) }) {
			fmt.Print(line)
		}
	}
	// Output:
	// <nil>
	// controller_runtime_reconcile_total{controller="greet",result="success"} 1
	// kinform_informer_synced{informer="configmaps",selection="configmaps"} 1
	// kinform_store_objects{informer="configmaps",selection="configmaps"} 1
}

func scrape(address net.Addr) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address.String() + "/metrics")
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// This program uses a queue, and no other part of kinform.
func ExampleQueueObserver() {
	collected := rest.Must(metrics.New(metrics.Options{}))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collected)

	queue := workqueue.New(workqueue.Options[string]{Name: "greetings", Observer: metrics.QueueObserver[string](collected, "greetings", nil)})
	collected.Queue(queue)
	queue.Add("world")
	families, err := registry.Gather()
	for _, f := range families {
		if f.GetName() == "kinform_workqueue_ready_keys" {
			fmt.Println(f.GetName(), f.Metric[0].Gauge.GetValue(), err)
		}
	}
	// Output: kinform_workqueue_ready_keys 1 <nil>
}
