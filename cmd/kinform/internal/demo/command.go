package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
)

// Command returns "kinform demo".
func Command() *cobra.Command {
	var opts Options
	var format string
	var noView bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run the whole pipeline on an embedded API server and watch it work",
		Long: `demo starts an API server in this process, on loopback. It creates, updates and deletes pods on this
server all the time. It runs the whole pipeline on these pods: list and watch, reflector, DeltaFIFO,
store, handler, workqueue, workers.

A page on loopback shows the run, in boxes, dots and numbers. demo prints the address of the page at
the start. In the terminal, each line shows one change, and how long the change took in each stage.
Ctrl-C stops the churn, drains the pipeline and prints a summary. The exit status is 0 only if every
key was reconciled in the server's last state, and the shutdown had no error.`,
		Example: `  kinform demo
  kinform demo --pods 20000 --churn 2000 --for 10s
  kinform demo --faults
  kinform demo --for 5s --output json | tail -n 1`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A run with a fixed end has no page by default, because its user reads the lines.
			opts.View = opts.Open || opts.Record != "" || !noView && !opts.Plain && opts.For == 0
			if err := opts.validate(); err != nil {
				return err
			}
			if (opts.Open || opts.Record != "") && (noView || opts.Plain) {
				return errors.New("--open and --record need the page, but --no-view and --plain turn the page off")
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			out := &output{to: cmd.OutOrStdout(), stop: stop}
			r, err := newReport(format, out)
			if err != nil {
				return err
			}
			err = run(ctx, opts, r)
			return cmp.Or(out.failure(), err)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&opts.For, "for", 0, "end by itself after this time (0: until Ctrl-C)")
	flags.IntVar(&opts.Pods, "pods", 1000, "how many pods there are at the start")
	flags.IntVar(&opts.Namespaces, "namespaces", 20, "how many namespaces the pods are in")
	flags.Float64Var(&opts.Churn, "churn", 20, "creates, updates and deletes a second")
	flags.BoolVar(&opts.Faults, "faults", false, "drop watches, forget past changes and return 429 while the demo runs")
	flags.BoolVar(&opts.Plain, "plain", false, "run package plain, the textbook version of the pipeline")
	flags.IntVar(&opts.Workers, "workers", 4, "how many workers take keys from the workqueue")
	flags.DurationVar(&opts.Work, "work", 0, "how long a worker needs for a key")
	flags.IntVar(&opts.Fail, "fail", 0, "how many attempts at each key fail before one succeeds")
	flags.DurationVar(&opts.SlowHandler, "slow-handler", 0, "add a second handler, whose calls take this long")
	flags.DurationVar(&opts.Resync, "resync", 0, "call the handler again for every pod after each interval of this length (0: never)")
	flags.StringVar(&opts.Node, "node", "", "at the end, find the pods of this node by an index, and by a scan of all pods")
	flags.BoolVar(&opts.Open, "open", false, "open the page in a browser; with --for, there is a page only with --open or --record")
	flags.StringVar(&opts.Record, "record", "", "a new file for a recording of the page; kinform view --replay plays it")
	flags.BoolVar(&noView, "no-view", false, "serve no page; write only to the terminal")
	flags.StringVarP(&format, "output", "o", "text", `"text", or "json" (one object a line; the last one is a summary)`)
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o Options) validate() error {
	var errs []error
	for _, flag := range []struct {
		name string
		bad  bool
		want string
	}{
		{"--pods", o.Pods < 0, "must not be negative"},
		{"--namespaces", o.Namespaces < 1, "must be at least 1"},
		{"--churn", !(o.Churn >= 0) || math.IsInf(o.Churn, 1), "must be a number that is not negative"},
		{"--workers", o.Workers < 1, "must be at least 1"},
		{"--for", o.For < 0, "must not be negative"},
		{"--work", o.Work < 0, "must not be negative"},
		{"--fail", o.Fail < 0, "must not be negative"},
		{"--slow-handler", o.SlowHandler < 0, "must not be negative"},
		{"--resync", o.Resync < 0, "must not be negative"},
	} {
		if flag.bad {
			errs = append(errs, fmt.Errorf("%s %s", flag.name, flag.want))
		}
	}
	return errors.Join(errs...)
}
