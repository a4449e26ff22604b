package lease_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

func exampleServer() *apitest.Server {
	server := apitest.New(apitest.Options{})
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	return server
}

// A controller that runs in several copies: the leader works on the queue. Check keeps a request
// from being sent after the lease was lost.
func Example() {
	server := exampleServer()
	defer server.Close()
	config := rest.Config{Host: server.URL(), DialContext: server.DialContext}
	client, err := rest.NewClient(config, rest.Options{Limit: lease.Check})
	if err != nil {
		panic(err)
	}
	defer client.Close()

	elector, err := lease.New(client, types.NamespacedName{Namespace: "default", Name: "greeter"}, lease.Options{})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	queue := workqueue.New(workqueue.Options[string]{})
	queue.Add("world")
	err = elector.Run(ctx, func(ctx context.Context) error {
		return queue.Run(ctx, 1, func(ctx context.Context, name string) error {
			fmt.Println("hello", name, lease.Check(ctx))
			cancel() // a program does this at SIGTERM
			return nil
		})
	})
	fmt.Println(err)

	// Output:
	// hello world <nil>
	// <nil>
}
