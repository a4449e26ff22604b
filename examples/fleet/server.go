package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/kinform/kinform/apitest"
)

// server runs an API server until ctx ends. It is a separate process, so that its memory and its
// garbage do not count for a replica.
func server(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fleet server", flag.ExitOnError)
	address := flags.String("listen", "127.0.0.1:0", "address")
	withInput := flags.Bool("attached", false, "end when standard input ends")
	_ = flags.Parse(args) // Parse exits on errors.
	if *withInput {
		// Ctrl-C goes to all processes, but the replicas need the server to the end.
		signal.Ignore(os.Interrupt)
		var cancel context.CancelFunc
		ctx, cancel = untilStdinCloses(ctx)
		defer cancel()
	}
	// A real server keeps at most this number of past events for a resource.
	s := apitest.New(apitest.Options{Window: 100_000})
	defer s.Close()
	if err := s.Listen(*address); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "listening", s.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
