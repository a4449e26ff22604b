package kubeconfig_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// A program writes the kubeconfig of a test server to a file, for kubectl and other processes. In
// this example the same process loads the file again.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "config")

	err = kubeconfig.Write(path, kubeconfig.Connection{
		Config:    rest.Config{Host: "http://127.0.0.1:8080"},
		Namespace: "demo",
		Context:   "kinform",
	})
	if err != nil {
		log.Fatal(err)
	}

	conn, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(conn.Context, conn.Config.Host, conn.Namespace)

	_, err = kubeconfig.Load(kubeconfig.Options{Path: path, Context: "prod"})
	fmt.Println(err != nil)
	// Output:
	// kinform http://127.0.0.1:8080 demo
	// true
}
