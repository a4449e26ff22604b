package profile_test

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/profile"
)

// An informer calls the hook for each goroutine. Here the example calls the hook itself.
func Example() {
	handler := informer.Goroutine{Informer: "pods", Stage: "handle", Handler: "web"}
	profile.Labels(context.Background(), handler, func() {
		var goroutines strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 1); err != nil {
			fmt.Println(err)
		}
		fmt.Println(strings.Contains(goroutines.String(), `{"handler":"web", "informer":"pods", "stage":"handle"}`))
	})
	// Output: true
}
