// Command fleet is a controller in two replicas, and a load test for it.
//
//	go run ./examples/fleet
//	go run ./examples/fleet -objects 1000
//
// All processes of the test are this program, which starts itself again for each of them. As "fleet
// server" it is an API server of package apitest. As "fleet replica" it is one replica of the
// controller, as a cluster would run it.
//
// Read replica.go first, which is the controller, then load.go, which is the test.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// role is the main function of a process of this program. It runs until its context ends.
type role func(ctx context.Context, args []string, out io.Writer) error

func main() {
	name, args := "load", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	run, known := map[string]role{"load": loadTest, "server": server, "replica": replica}[name]
	if !known {
		fmt.Fprintf(os.Stderr, "fleet: %q is none of server and replica\n", name)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "fleet %s: %v\n", name, err)
		os.Exit(1)
	}
}

// attached returns a context that ends with standard input. The load test holds the other end of
// the pipe, so that its child processes end with it in any case.
func attached(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // It ends with the process, because a read of a file has no context.
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx, cancel
}
