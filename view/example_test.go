package view_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/workqueue"
)

// This program shows an informer and its queue on a page, on loopback.
func Example() {
	server := apitest.New(apitest.Options{})
	if err := server.ListenMemory(); err != nil {
		panic(err)
	}
	defer server.Close()
	rest.Must(server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "shop"}}))
	client := rest.Must(rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{}))
	defer client.Close()

	picture := rest.Must(view.New(view.Options{Title: "shops"}))
	source := rest.Must(rest.For[*corev1.Pod](client, rest.ResourceOptions{}))
	pods := rest.Must(informer.New(source, view.InformerOptions(picture, informer.Options[*corev1.Pod]{Name: "pods"})))
	queue := workqueue.New(view.QueueOptions(picture, workqueue.Options[types.NamespacedName]{Name: "shops"}))
	rest.Must(pods.AddHandler(enqueue.Object[*corev1.Pod](queue), informer.HandlerOptions{Name: "enqueue"}))
	view.Informer(picture, pods)
	view.Queue(picture, queue, "pods")

	ctx, stop := context.WithCancel(context.Background())
	listener := rest.Must(net.Listen("tcp", "127.0.0.1:0"))
	served := make(chan error)
	go func() { served <- picture.Serve(ctx, listener) }()

	err := informer.Run(ctx, func(ctx context.Context) error {
		return queue.Run(ctx, 1, func(context.Context, types.NamespacedName) error {
			fmt.Println(title("http://" + listener.Addr().String()))
			for _, part := range picture.Pipelines().Pipelines {
				fmt.Printf("%s %s: %d objects, wrong: %v\n", part.Kind, part.Name, part.Objects, part.Problems)
			}
			stop()
			return nil
		})
	}, pods)
	fmt.Println(err, <-served)
	// Output:
	// <title>kinform view</title>
	// informer pods: 1 objects, wrong: []
	// queue shops: 0 objects, wrong: []
	// <nil> <nil>
}

func title(url string) string {
	answer := rest.Must((&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(url))
	defer answer.Body.Close()
	for line := range strings.Lines(string(rest.Must(io.ReadAll(answer.Body)))) {
		if strings.HasPrefix(line, "<title>") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// This program records for a tenth of a second: a hello line that describes the recording, and one
// frame.
func ExampleView_Record() {
	picture := rest.Must(view.New(view.Options{}))
	view.Queue(picture, workqueue.New(workqueue.Options[string]{Name: "jobs"}))
	ctx, stop := context.WithCancel(context.Background())
	first := true
	_ = picture.Record(ctx, writer(func(line []byte) {
		_, _ = os.Stdout.WriteString(strings.SplitN(string(line), ":", 2)[0] + "\n")
		if !first {
			stop()
		}
		first = false
	}), "jobs")
	// Output:
	// {"hello"
	// {"frame"
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) { w(p); return len(p), nil }
