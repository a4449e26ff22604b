// Command kinform is a pod informer on kinform: the program whose size is compared. It is the same
// as internal/arch/testdata/podinformer.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
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
	client, err := rest.NewClient(cfg, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()

	pods, err := rest.For[*corev1.Pod](client, rest.ResourceOptions{})
	if err != nil {
		return err
	}
	inf, err := informer.New(pods, informer.Options[*corev1.Pod]{})
	if err != nil {
		return err
	}
	_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) {
		fmt.Println(e.Type, e.Key)
	}, informer.HandlerOptions{})
	if err != nil {
		return err
	}
	return inf.Run(ctx)
}
