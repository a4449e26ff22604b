// Package laboratory is the command "kinform lab": it runs a pipeline and serves a page with
// buttons that break the pipeline in various ways.
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
)

// Command returns the command.
func Command() *cobra.Command {
	var opts Options
	var open bool
	var record string
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Serve a page to pause, step and break a running pipeline, with a guided tour",
		Long: `kinform lab runs an API server, an informer, a queue and workers in this process, and serves a page
that shows them. The buttons of the page write objects, pause each stage, cut the watch, and delay or
lose events. Other buttons make the server return 410 and 429, slow down handlers and workers, and
make reconciles fail.

The page is on loopback. The printed address works for one browser. Other browsers need the token that
is printed after the address. Without the token, the buttons of the page are disabled.

The API server keeps the last 10,000 changes, with whole pods, so that a watch can start in the past.
At a high rate, the process therefore grows to some 280 MB, or to 520 MB with JSON, and no further.
--window 1000 reduces this to 70 MB.

kinform top shows the same in the terminal.`,
		Example: `  kinform lab --open
  kinform lab --pods 1000 --rate 200
  kinform lab --listen 127.0.0.1:8001   # and: kubectl --server=http://127.0.0.1:8001 get pods -A -w`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), cmd.OutOrStdout(), opts, open, record)
		},
	}
	flags := cmd.Flags()
	opts.AddFlags(flags)
	flags.BoolVar(&open, "open", false, "open the page in a browser")
	flags.StringVar(&record, "record", "", "a new file for a recording of the page; kinform view --replay plays it")
	return cmd
}

func run(ctx context.Context, out io.Writer, opts Options, open bool, record string) (err error) {
	l, err := opts.New()
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
	url := fmt.Sprintf("http://%v/", listener.Addr())
	_, err = fmt.Fprintf(out, "the laboratory is at %s\nCtrl-C ends it\n", browse.Instructions(l.View(), url))
	if err == nil && open {
		err = browse.Open(l.View(), url)
	}
	if err != nil {
		stop()
	}
	err = errors.Join(err, l.Run(ctx))
	stop()
	return errors.Join(err, <-served)
}
