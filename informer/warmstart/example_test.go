package warmstart_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/warmstart"
	"github.com/kinform/kinform/rest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var pods = corev1.SchemeGroupVersion.WithResource("pods")

// process runs a program from start to end. The program stops when the pod with the name until
// exists.
func process(server *apitest.Server, path string, until string) error {
	client, err := rest.NewClient(rest.Config{Host: server.URL()}, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	file, err := warmstart.New(path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{OnError: func(err error) {
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Println("a cold start, as there is no file")
		}
	}})
	if err != nil {
		return err
	}
	inf, err := informer.New(rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})), informer.Options[*corev1.Pod]{Preload: file.Preload})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	_, err = inf.AddHandler(func(e informer.Event[*corev1.Pod]) {
		fmt.Println(e.Type, e.Key.Name, e.Cause)
		if e.Key.Name == until {
			stop()
		}
	}, informer.HandlerOptions{})
	if err != nil {
		return err
	}
	saving, saved := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- file.SaveEvery(saving, time.Minute) }()
	err = inf.Run(ctx)
	saved() // SaveEvery saves once more, after the last change.
	if failed := <-ended; err == nil {
		err = failed
	}
	return err
}

func Example() {
	dir, err := os.MkdirTemp("", "warmstart")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pods")
	server := apitest.New(apitest.Options{})
	defer server.Close()
	if err := server.Listen("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	create := func(name string) {
		if _, err := server.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}); err != nil {
			fmt.Println(err)
		}
	}

	// The UID of this namespace identifies the cluster.
	if _, err := server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}); err != nil {
		fmt.Println(err)
	}
	create("web")
	if err := process(server, path, "web"); err != nil {
		fmt.Println(err)
	}
	fmt.Println("while nobody looks, web goes and db comes")
	if err := server.Delete(pods, types.NamespacedName{Namespace: "shop", Name: "web"}); err != nil {
		fmt.Println(err)
	}
	create("db")
	if err := process(server, path, "db"); err != nil {
		fmt.Println(err)
	}

	// Output:
	// a cold start, as there is no file
	// Added web initial
	// while nobody looks, web goes and db comes
	// Added web initial
	// Deleted web watch
	// Added db watch
}
