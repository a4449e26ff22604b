// Command minimal is the smallest useful controller: it keeps a cache of all pods, and four workers
// look at each pod that has changed.
package main

import (
	"context"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	connection := must(kubeconfig.Load(kubeconfig.Options{}))
	client := must(rest.NewClient(connection.Config, rest.Options{}))
	defer client.Close()

	manager := must(controller.New(client, controller.Options{Name: "pods"}))
	pods := controller.For[*corev1.Pod](manager, rest.ResourceOptions{})
	controller.Manage(manager, "pods", pods, reconcile, controller.Settings[*corev1.Pod]{Workers: 4})
	if err := manager.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// reconcile is called with each pod that has changed, and never twice at a time for one pod.
func reconcile(_ context.Context, pod *corev1.Pod) (controller.Result, error) {
	fmt.Printf("%s/%s %s\n", pod.Namespace, pod.Name, pod.Status.Phase)
	return controller.Done, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
