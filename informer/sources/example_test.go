package sources_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// A program that may read two namespaces merges them into one source, and keeps only the node of
// each pod.
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

	var parts []listwatch.Source[*corev1.Pod]
	for _, namespace := range []string{"shop", "blog"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
			Spec:       corev1.PodSpec{NodeName: "node-of-" + namespace},
		}
		if _, err := server.Create(pod); err != nil {
			fmt.Println(err)
			return
		}
		parts = append(parts, rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{Namespace: namespace})))
	}
	nodes := sources.Transform(sources.Merge(parts...), func(pod *corev1.Pod) (string, error) {
		return pod.Spec.NodeName, nil
	})

	// An informer of nodes would list and watch it in the same way.
	items, err := listwatch.Collect(nodes.List(context.Background(), listwatch.ListOptions{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range items {
		fmt.Println(item.Key, "runs on", item.Object)
	}
	// Unordered output:
	// shop/web runs on node-of-shop
	// blog/web runs on node-of-blog
}
