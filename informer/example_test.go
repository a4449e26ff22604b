package informer_test

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func Example() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	web := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	if _, err := server.Create(web); err != nil {
		fmt.Println(err)
		return
	}

	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	pods := rest.Must(rest.NewResource[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), rest.ResourceOptions{}))
	inf, err := informer.New(pods, informer.Options[*corev1.Pod]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := make(chan string)
	_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) {
		events <- fmt.Sprintf("%v %v (%v), phase %q", e.Type, e.Key, e.Cause, e.New.Status.Phase)
	}, informer.HandlerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error)
	go func() { ended <- inf.Run(ctx) }()
	fmt.Println(<-events)

	web.Status.Phase = corev1.PodRunning
	updated, err := server.Update(web)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-events)

	// Read your own write: the store contains it when WaitRV returns.
	if err := inf.Store().WaitRV(ctx, updated.GetResourceVersion()); err != nil {
		fmt.Println(err)
	}
	for key, pod := range inf.Store().Namespace("shop") {
		fmt.Println("stored:", key.Name, pod.Status.Phase)
	}
	cancel()
	fmt.Println("ended:", <-ended)

	// Output:
	// Added shop/web (initial), phase ""
	// Updated shop/web (watch), phase "Running"
	// stored: web Running
	// ended: <nil>
}
