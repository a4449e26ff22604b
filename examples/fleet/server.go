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

// server is an API server, until ctx ends. It has a process of its own, so that its memory and
// its garbage are not those of a replica.
func server(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fleet server", flag.ExitOnError)
	address := flags.String("listen", "127.0.0.1:0", "address")
	withInput := flags.Bool("attached", false, "end with standard input")
	_ = flags.Parse(args) // It exits.
	if *withInput {
		signal.Ignore(os.Interrupt) // Ctrl-C is for all at once, and the replicas need it to the end.
		var cancel context.CancelFunc
		ctx, cancel = attached(ctx)
		defer cancel()
	}
	// As many past events as a real server keeps for a resource at most.
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
