// Command minimal is the smallest useful controller: it keeps a cache of all
// pods and has four workers look at each pod that changed.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"sync"
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

	pods := rest.NewResource[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), rest.ResourceOptions{})
	inf := must(informer.New(pods, informer.Options[*corev1.Pod]{Name: "pods"}))
	queue := workqueue.New(workqueue.Options[types.NamespacedName]{Name: "pods"})
	// A handler that falls more than 1,024 events behind is told what became of each pod in
	// fewer of them: see informer.Coalesce. This one never does, for Add does not wait.
	must(inf.AddHandler(func(e informer.Event[*corev1.Pod]) { queue.Add(e.Key) }, informer.HandlerOptions{}))

	var running sync.WaitGroup
	running.Go(func() { fmt.Println("informer ended:", inf.Run(ctx)) })
	fmt.Println("workers ended:", queue.Run(ctx, 4, func(ctx context.Context, key types.NamespacedName) error {
		if pod, exists := inf.Store().Get(key); exists {
			fmt.Println(key, pod.Status.Phase)
		}
		return nil
	}))
	running.Wait()
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
