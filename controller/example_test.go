package controller_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

// A controller that keeps a Secret for every ConfigMap, and records this in an annotation.
func Example() {
	server := apitest.New(apitest.Options{})
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	defer server.Close()
	client := rest.Must(rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{}))
	defer client.Close()

	m := rest.Must(controller.New(client, controller.Options{Logger: slog.New(slog.DiscardHandler)}))
	maps := controller.For[*corev1.ConfigMap](m, rest.ResourceOptions{})
	secrets := controller.For[*corev1.Secret](m, rest.ResourceOptions{})
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()

	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	reconcile := func(ctx context.Context, wanted *corev1.ConfigMap) (controller.Result, error) {
		secret, exists := secrets.Get(key{Namespace: wanted.Namespace, Name: wanted.Name})
		if !exists {
			_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: wanted.Namespace, Name: wanted.Name,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(wanted, kind)},
			}})
			fmt.Println("create", wanted.Name, err)
			return controller.Done, err
		}
		fmt.Println("there is", secret.Name)
		stop()
		return controller.Done, nil
	}
	c := controller.Manage(m, "secrets", maps, reconcile, controller.Settings[*corev1.ConfigMap]{})
	controller.Owns(c, secrets, nil)

	if _, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}); err != nil {
		panic(err)
	}
	fmt.Println(m.Run(ctx))
	// Output:
	// create shop <nil>
	// there is shop
	// <nil>
}
