package tracing_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/tracing"
)

// This program traces all changes of a controller. A real program would have an exporter in place
// of the recorder, and would trace one change in a hundred.
func Example() {
	server := apitest.New(apitest.Options{})
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	defer server.Close()

	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	traced := rest.Must(tracing.New(provider, tracing.Options{Ratio: 1}))

	config := rest.Config{Host: server.URL(), DialContext: server.DialContext}
	client := rest.Must(rest.NewClient(config, rest.Options{Observer: traced.ClientObserver(nil)}))
	defer client.Close()
	m := rest.Must(controller.New(client, controller.Options{Observer: traced.ControllerObserver(nil)}))
	maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	ctx, stop := context.WithCancel(context.Background())
	controller.Manage(m, "greet", maps, func(ctx context.Context, found *corev1.ConfigMap) (controller.Result, error) {
		if found.Name == "first" { // It exists before the controller starts, so it is not a change.
			_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "second"}})
			return controller.Done, err
		}
		_, err := maps.Server().Get(ctx, types.NamespacedName{Namespace: "web", Name: "first"}, metav1.GetOptions{})
		stop() // in place of SIGTERM
		return controller.Done, err
	}, controller.Settings[*corev1.ConfigMap]{})
	rest.Must(server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "first"}}))
	fmt.Println(m.Run(ctx))

	for _, span := range recorder.Ended() {
		fmt.Println(span.Name())
	}
	// Unordered output:
	// <nil>
	// deltafifo
	// store
	// change configmaps
	// mailbox
	// handle greet
	// workqueue
	// get configmaps
	// reconcile greet
}
