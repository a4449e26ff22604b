// Command fleet is a controller that runs in two replicas, and a load test for it.
//
//	go run ./examples/fleet
//	go run ./examples/fleet -objects 1000
//
// All processes of the test run this program, which starts itself once for each of them. As "fleet
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

// role is the main function of a process in one role. It runs until its context ends.
type role func(ctx context.Context, args []string, out io.Writer) error

func main() {
	name, args := "load", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	run, known := map[string]role{"load": loadTest, "server": server, "replica": replica}[name]
	if !known {
		fmt.Fprintf(os.Stderr, "fleet: unknown role %q: use server or replica\n", name)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "fleet %s: %v\n", name, err)
		os.Exit(1)
	}
}

// untilStdinCloses returns a context that ends when standard input ends. The load test holds the
// other end of the pipe. So when the load test ends for any reason, its child processes end.
func untilStdinCloses(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		// This goroutine ends only with the process, because a context cannot interrupt the read.
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx, cancel
}
