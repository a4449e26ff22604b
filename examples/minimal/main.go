// Command minimal is the smallest useful controller: it keeps a cache of all
// pods and has four workers look at each pod that changed.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/workqueue"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	connection := must(kubeconfig.Load(kubeconfig.Options{}))
	client := must(rest.NewClient(connection.Config, rest.Options{}))
	defer client.Close()

	resource := must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))
	pods := must(informer.New(resource, informer.Options[*corev1.Pod]{Name: "pods"}))
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{Name: "pods"})
	must(pods.AddHandler(func(e informer.Event[*corev1.Pod]) { queue.Add(e.Key) }, informer.HandlerOptions{}))

	reconcile := func(ctx context.Context, key types.NamespacedName) error {
		if pod, exists := pods.Store().Get(key); exists {
			fmt.Println(key, pod.Status.Phase)
		}
		return nil
	}
	// The workers begin when the cache is complete, and the cache ends after them.
	work := func(ctx context.Context) error { return queue.Run(ctx, 4, reconcile) }
	if err := informer.Run(ctx, work, pods); err != nil {
		log.Fatal(err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
