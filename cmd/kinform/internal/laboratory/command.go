// Package laboratory is the command that runs a pipeline to break, with a page that has a button for each way.
package laboratory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/cmd/kinform/internal/recording"
	"github.com/kinform/kinform/view/lab"
)

// Command returns the command.
func Command() *cobra.Command {
	var opts lab.Options
	var open bool
	var record string
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "a page on which you pause, step and break a running pipeline, with a guided tour",
		Long: `kinform lab runs an API server, an informer, a queue and workers in this process, and serves a page
that shows them. Its buttons write objects, hold each stage, cut the watch, delay and lose events,
have the server answer 410 and 429, slow handlers and workers, and have turns fail.

The address has a token at its end, without which the page has no buttons. The page is on loopback.`,
		Example: `  kinform lab --open
  kinform lab --pods 1000 --rate 200
  kinform lab --listen 127.0.0.1:8001   # and: kubectl --server=http://127.0.0.1:8001 get pods -A -w`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.Pods == 0 {
				opts.Pods = -1
			}
			return run(cmd.Context(), cmd.OutOrStdout(), opts, open, record)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&opts.Pods, "pods", 20, "pods at the beginning")
	flags.IntVar(&opts.Rate, "rate", 0, "creates, updates and deletes of pods a second, at the beginning")
	flags.IntVar(&opts.Workers, "workers", 4, "workers at the beginning")
	flags.StringVar(&opts.Listen, "listen", "", "a loopback address at which the API server listens as well, for kubectl")
	flags.BoolVar(&open, "open", false, "open the page in a browser")
	flags.StringVar(&record, "record", "", "a new file to write what the page shows to; kinform view --replay plays it")
	return cmd
}

func run(ctx context.Context, out io.Writer, opts lab.Options, open bool, record string) (err error) {
	if opts.Listen != "" {
		host, _, err := net.SplitHostPort(opts.Listen)
		if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return fmt.Errorf("--listen: %q is no address on loopback, such as 127.0.0.1:8001: the server asks for no credentials", opts.Listen)
		}
	}
	l, err := lab.New(opts)
	if err != nil {
		return err
	}
	file, err := recording.Start(l.View(), record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- l.View().Serve(ctx, listener); stop() }()
	address := l.View().Address(fmt.Sprintf("http://%v/", listener.Addr()))
	_, err = fmt.Fprintf(out, "the laboratory is at %s\nCtrl-C ends it\n", address)
	if err == nil && open {
		err = browse.Open(address)
	}
	if err != nil {
		stop()
	}
	err = errors.Join(err, l.Run(ctx))
	stop()
	return errors.Join(err, <-served)
}
