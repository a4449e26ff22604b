package lab_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/kinform/kinform/view/lab"
)

func Example() {
	l, err := lab.New(lab.Options{Pods: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()

	page := httptest.NewServer(l.View())
	defer page.Close()
	response, err := page.Client().Get(page.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	response.Body.Close()
	fmt.Println("page:", response.Status)

	cancel()
	fmt.Println("ended:", <-ended)
	// Output:
	// page: 200 OK
	// ended: <nil>
}
