// Command manager is a typical manager of controller-runtime with one reconciler of pods. The
// report compares its size with and without the replace directive for module clientgo.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cfg, err := rest.InClusterConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(cfg, ctrl.Options{})
	if err != nil {
		return err
	}
	c := manager.GetClient()
	err = ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			var pod corev1.Pod
			err := c.Get(ctx, request.NamespacedName, &pod)
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}))
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
