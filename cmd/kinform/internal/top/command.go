// Package top shows a running pipeline in a terminal. It has the same boxes, numbers and words as
// the page of package view in a browser, and reads the same stream. The small pictures exist only
// on the page. A view in this process is read in the same way as a remote view, through an
// in-memory network.
//
// A [screen] receives keys, lines of the stream, and the time, and draws lines of text. It does not
// depend on the terminal. File program.go connects it to the terminal with charm.land/bubbletea/v2.
// This library is the most used of its kind. It redraws only what has changed, and detects what the
// terminal supports.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/kinform/kinform/cmd/kinform/internal/laboratory"
	"github.com/kinform/kinform/cmd/kinform/internal/recording"
	"github.com/kinform/kinform/cmd/kinform/internal/terminal"
	"github.com/kinform/kinform/cmd/kinform/internal/watch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/view"
)

// options are the flags and arguments of "kinform top".
type options struct {
	lab     laboratory.Options
	cluster watch.Cluster
	record  string
	token   string
	once    bool
	width   int
}

// Command returns the command.
func Command() *cobra.Command {
	var opts options
	of := map[string]*pflag.FlagSet{"a laboratory": {}, "a cluster": {}, "a page": {}}
	cmd := &cobra.Command{
		Use:   "top [URL | RESOURCE...]",
		Short: "Show a running pipeline in the terminal, with the boxes of the page",
		Long: `top shows the page of kinform's other commands in a terminal, for a machine without a browser. It has the same seven
boxes and the same numbers, but no small pictures. The key ? lists the keys.

  kinform top             a laboratory in this process, as kinform lab; m lists its actions
  kinform top URL         a page that runs elsewhere, by the address that its program has printed
  kinform top RESOURCE... informers on a cluster, read-only, as kinform view

The printed address has a code that works once. After that, leave the code out of the address, and use the token that
the program prints after the address. --token-file names a file with the token. With --token-file -, top reads the
token from standard input, and asks for it on a terminal.`,
		Example: `  kinform top
  kinform top pods deployments.apps -A
  kinform top 'http://127.0.0.1:34567/#code=ABC'
  kinform top --token-file - http://127.0.0.1:34567/
  kinform top pods -A --once`,
		Args: func(cmd *cobra.Command, args []string) error { return opts.check(cmd, args, of) },
		RunE: func(cmd *cobra.Command, args []string) error { return opts.run(cmd, args) },
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return opts.cluster.Complete(cmd.Context())
		},
	}
	flags := cmd.Flags()
	opts.lab.AddFlags(of["a laboratory"])
	opts.cluster.AddFlags(of["a cluster"])
	of["a page"].StringVar(&opts.token, "token-file", "", "a file with the token of the page; - means standard input")
	for _, some := range of {
		flags.AddFlagSet(some)
	}
	flags.StringVar(&opts.record, "record", "", "a new file for a recording of the first pipeline, of a laboratory or a cluster; kinform view --replay plays it")
	flags.BoolVar(&opts.once, "once", false, "print one frame as text, and exit")
	flags.IntVar(&opts.width, "width", 0, "the width of the text of --once (default: the terminal's width, or 120)")
	return cmd
}

func isURL(arg string) bool { return strings.Contains(arg, "://") }

// sourceKind returns the kind of source that the arguments select.
func sourceKind(args []string) string {
	switch {
	case len(args) == 1 && isURL(args[0]):
		return "a page"
	case len(args) > 0:
		return "a cluster"
	}
	return "a laboratory"
}

// check returns an error if flags and arguments contradict each other.
func (o *options) check(cmd *cobra.Command, args []string, of map[string]*pflag.FlagSet) error {
	kind := sourceKind(args)
	for _, arg := range args {
		if isURL(arg) && len(args) > 1 {
			return fmt.Errorf("an address must be the only argument: %d arguments were given", len(args))
		}
	}
	for what, flags := range of {
		var wrong string
		flags.VisitAll(func(f *pflag.Flag) {
			if cmd.Flags().Changed(f.Name) && what != kind {
				wrong = f.Name
			}
		})
		if wrong != "" {
			return fmt.Errorf("--%s is for %s, but %s is shown", wrong, what, kind)
		}
	}
	if o.record != "" && kind == "a page" {
		return errors.New("--record is for pipelines in this process, but a page is shown")
	}
	if o.width != 0 && !o.once {
		return errors.New("--width needs --once")
	}
	return nil
}

// run shows the source that the arguments select. At the end, it stops everything that it has
// started.
func (o *options) run(cmd *cobra.Command, args []string) (err error) {
	out := terminal.File(cmd.OutOrStdout())
	if !o.once {
		if err := checkTerminal(cmd.InOrStdin(), out); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var v *view.View
	work := func(context.Context) error { return nil }
	switch sourceKind(args) {
	case "a page":
		p, err := newPage(args[0], nil)
		if err != nil {
			return err
		}
		defer p.client.CloseIdleConnections()
		if p.token, err = o.readToken(cmd); err != nil {
			return err
		}
		if err := o.display(ctx, cmd, p, out); err != nil {
			return fmt.Errorf("%v: %w", p.base, err)
		}
		return nil
	case "a cluster":
		l, err := o.cluster.Open(ctx, args, func(reflector.Error) {}) // The picture shows failures.
		if err != nil {
			return err
		}
		defer l.Close()
		v, work = l.View, func(ctx context.Context) error { l.Run(ctx); return nil }
	default:
		l, err := o.lab.New()
		if err != nil {
			return err
		}
		v, work = l.View(), l.Run
	}
	file, err := recording.Start(v, o.record)
	if err != nil {
		return err
	}
	var workErr error
	var working sync.WaitGroup
	working.Go(func() { workErr = work(ctx) })
	p, end := serve(v)
	err = o.display(ctx, cmd, p, out)
	stop()
	err = errors.Join(err, end())
	working.Wait()
	return errors.Join(err, workErr, file.Close())
}

// maxToken limits the size of a token.
const maxToken = 4 << 10

// readToken reads the token of the page from a file or from standard input.
func (o *options) readToken(cmd *cobra.Command) (string, error) {
	if o.token == "" {
		return "", nil
	}
	from := cmd.InOrStdin()
	if o.token == "-" {
		if file, ok := from.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			fmt.Fprint(cmd.ErrOrStderr(), "token: ")
			typed, err := term.ReadPassword(int(file.Fd()))
			fmt.Fprintln(cmd.ErrOrStderr())
			return strings.TrimSpace(string(typed)), err
		}
	} else {
		file, err := os.Open(o.token)
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxToken+1))
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || len(text) > maxToken || strings.ContainsFunc(token, unicode.IsSpace) {
		return "", fmt.Errorf("--token-file: %s must have one token and nothing else", o.token)
	}
	return token, nil
}

var errRecording = errors.New("the page has only a recording: open it in a browser")

// display shows a page, or prints a single frame.
func (o *options) display(ctx context.Context, cmd *cobra.Command, p *page, out *os.File) error {
	if err := p.exchangeCode(ctx); err != nil {
		return err
	}
	all, err := fetchPipelines(ctx, p)
	if err != nil {
		return err
	}
	if all.Recording && len(all.Pipelines) == 0 {
		return errRecording
	}
	if o.once {
		return once(ctx, p, all, o.columns(out), cmd.OutOrStdout())
	}
	return runTerminal(ctx, p, all, cmd.InOrStdin(), out)
}

// columns returns the width of the text that --once prints.
func (o *options) columns(out *os.File) int {
	if o.width > 0 {
		return min(o.width, 1000)
	}
	if out != nil {
		if width, _, err := term.GetSize(int(out.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 120
}
