package apitest_test

import (
	"bufio"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

// The program writes objects into the server directly, and reads them in the same way as from any
// Kubernetes server. In a test, apitest.Start(t, ...) starts the server and closes it at the end.
func Example() {
	srv := apitest.New(apitest.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	pod, err := srv.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(pod.GetName(), "has resourceVersion", pod.GetResourceVersion())

	resp, err := http.Get(srv.URL() + "/api/v1/pods?watch=1&timeoutSeconds=60")
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	fmt.Println(line[:60], err)

	// Output:
	// web has resourceVersion 2
	// {"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","me <nil>
}

// A fault hits requests that match it. Times limits how many.
func ExampleServer_Inject() {
	srv := apitest.New(apitest.Options{})
	defer srv.Close()
	if err := srv.Listen("127.0.0.1:0"); err != nil {
		panic(err)
	}
	srv.Inject(apitest.Fault{Verb: "list", Resource: "pods", Times: 1, Action: apitest.TooManyRequests(3 * time.Second)})
	for range 2 {
		resp, err := http.Get(srv.URL() + "/api/v1/pods")
		if err != nil {
			panic(err)
		}
		_ = resp.Body.Close()
		fmt.Println(resp.StatusCode, resp.Header.Get("Retry-After"))
	}

	// Output:
	// 429 3
	// 200
}
