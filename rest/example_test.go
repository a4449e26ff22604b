package rest_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// The example lists pods, and then watches from the version of the list.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(respond))
	defer server.Close()

	client, err := rest.NewClient(rest.Config{Host: server.URL}, rest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	pods := rest.Must(rest.NewResource[*corev1.Pod](client, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, rest.ResourceOptions{}))

	ctx := context.Background()
	list, err := pods.List(ctx, listwatch.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer list.Close()
	for {
		item, err := list.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("listed", item.Key, "on", item.Object.Spec.NodeName)
	}

	watch, err := pods.Watch(ctx, listwatch.WatchOptions{ResourceVersion: list.Meta().ResourceVersion})
	if err != nil {
		log.Fatal(err)
	}
	defer watch.Close()
	for {
		event, err := watch.Next()
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(event.Type, event.Key, "at version", event.ResourceVersion)
	}
	// Output:
	// listed shop/web-1 on node-a
	// listed shop/web-2 on node-b
	// MODIFIED shop/web-1 at version 13
	// DELETED shop/web-2 at version 14
	// EOF
}

// respond is the server of the example.
func respond(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") == "" {
		fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"12"},"items":[
			{"metadata":{"namespace":"shop","name":"web-1","resourceVersion":"10"},"spec":{"nodeName":"node-a"}},
			{"metadata":{"namespace":"shop","name":"web-2","resourceVersion":"11"},"spec":{"nodeName":"node-b"}}]}`)
		return
	}
	fmt.Fprintln(w, `{"type":"MODIFIED","object":{"metadata":{"namespace":"shop","name":"web-1","resourceVersion":"13"}}}`)
	fmt.Fprintln(w, `{"type":"DELETED","object":{"metadata":{"namespace":"shop","name":"web-2","resourceVersion":"14"}}}`)
}
