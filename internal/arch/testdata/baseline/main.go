// Baseline is the program with which podinformer is compared. It gets pods from an API server over
// net/http and decodes them, in protobuf and in JSON, without an informer.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	response, err := http.Get("https://kubernetes.default.svc/api/v1/pods")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var pods corev1.PodList
	if response.Header.Get("Content-Type") == "application/json" {
		err = json.Unmarshal(body, &pods)
	} else {
		err = pods.Unmarshal(body)
	}
	for _, pod := range pods.Items {
		fmt.Println(pod.Namespace, pod.Name)
	}
	return err
}
