package plain_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/plain"
)

// The whole pipeline: an informer of pods, a handler that adds keys, and a worker.
func Example() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}); err != nil {
		fmt.Println(err)
		return
	}

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	pods := plain.NewInformer(&plain.Client[*corev1.Pod]{
		HTTP: &http.Client{Transport: transport},
		URL:  server.URL() + "/api/v1/pods",
	}, plain.Options[*corev1.Pod]{})
	queue := plain.NewQueue[types.NamespacedName]()
	if _, err := pods.AddHandler(func(e plain.Event[*corev1.Pod]) { queue.Add(plain.KeyOf(e.New)) }); err != nil {
		fmt.Println(err)
		return
	}

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := pods.Run(ctx); err != nil {
			fmt.Println(err)
		}
	})
	plain.Work(ctx, queue, 1, func(_ context.Context, key types.NamespacedName) error {
		_, found := pods.Store.Get(key)
		fmt.Println("reconcile", key, "in the store:", found)
		cancel() // A real controller works on.
		return nil
	})
	running.Wait()
	// Output: reconcile shop/web in the store: true
}
