package finalizer_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/finalizer"
)

func Example() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	pods := rest.Must(rest.NewResource[*corev1.Pod](client, gvr, rest.ResourceOptions{}))
	ctx := context.Background()

	removeRecord := func(_ context.Context, pod *corev1.Pod) error {
		fmt.Println("removing the DNS record of", pod.Name)
		return nil
	}
	reconcile := func(cached *corev1.Pod) {
		pod, gone, err := finalizer.Handle(ctx, pods, cached, "example.com/dns", removeRecord)
		switch {
		case err != nil:
			fmt.Println(err) // and retry later
		case gone:
			fmt.Println("gone")
		default:
			fmt.Println("making the DNS record of", pod.Name)
		}
	}

	created, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}, metav1.CreateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcile(created)
	if err := pods.Delete(ctx, web, metav1.DeleteOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	deleting, err := pods.Get(ctx, web, metav1.GetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	reconcile(deleting)

	// Output:
	// making the DNS record of web
	// removing the DNS record of web
	// gone
}
