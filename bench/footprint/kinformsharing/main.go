// Command kinformsharing is the program kinform beside it with package rest/sharing.
package main

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
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

	shared := sharing.New(sharing.Options{})
	pods := rest.NewResource[*corev1.Pod](client, corev1.SchemeGroupVersion.WithResource("pods"), rest.ResourceOptions{
		DecodeProtobuf: shared.Unmarshal, DecodeUpdate: shared.UnmarshalUpdate, DecodeJSON: shared.DecodeJSON,
	})
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
