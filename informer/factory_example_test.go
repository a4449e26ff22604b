package informer_test

import (
	"context"
	"fmt"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Two parts of a program need the pods of the same two namespaces, and share one informer.
func ExampleFactory() {
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	for _, namespace := range []string{"shop", "blog", "secret"} {
		if _, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}); err != nil {
			fmt.Println(err)
			return
		}
	}
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	open := func(s informer.Selection) (listwatch.Source[*corev1.Pod], error) {
		return rest.NewResource[*corev1.Pod](client, s.Resource, rest.ResourceOptions{Namespace: s.Namespace()})
	}

	var factory informer.Factory
	ours := informer.Selection{Resource: pods, Namespaces: []string{"shop", "blog"}}
	first, err := informer.Acquire(&factory, ours, open, informer.Options[*corev1.Pod]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	second, err := informer.Acquire(&factory, ours, open, informer.Options[*corev1.Pod]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- factory.Run(ctx) }()
	if err := factory.WaitForSync(ctx); err != nil {
		fmt.Println(err)
	}
	for _, status := range factory.Status() {
		fmt.Println(status.Selection, "has", status.Store.Objects, "objects and", status.Users, "users")
	}
	fmt.Println("the same store:", first.Store() == second.Store())

	if err := first.Release(ctx); err != nil {
		fmt.Println(err)
	}
	if err := second.Release(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println("informers without users:", len(factory.Status()))
	cancel()
	fmt.Println("ended:", <-ended)

	// Output:
	// pods in blog+shop has 2 objects and 2 users
	// the same store: true
	// informers without users: 0
	// ended: <nil>
}
