package events_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/events"
	"github.com/kinform/kinform/rest"
)

// Events that are recorded before the end are sent before Run returns.
func Example() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	if err != nil {
		panic(err)
	}
	defer client.Close()

	recorder, err := events.New(client, "example.com/websites", events.Options{Observer: &events.Observer{
		OnDrop: func(why events.DropReason, n uint64) { fmt.Println("dropped:", why, n) },
	}})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- recorder.Run(ctx) }()

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	for range 3 {
		recorder.Warning(pod, "BackOff", "restarting %s", "nginx")
	}
	cancel()
	fmt.Println(<-ended)
	fmt.Println("sent:", recorder.Stats().Sent)

	// Output:
	// <nil>
	// sent: 3
}

// A reconciler under test records to a Sink.
func ExampleNewSink() {
	reconcile := func(recorder *events.Recorder, pod *corev1.Pod) {
		recorder.Normal(pod, "Greeted", "hello, %s", pod.Name)
	}

	sink, recorder := events.NewSink()
	reconcile(recorder, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
	for _, event := range sink.Events() {
		fmt.Println(event)
	}

	// Output:
	// Normal Greeted Pod default/web: hello, web
}
