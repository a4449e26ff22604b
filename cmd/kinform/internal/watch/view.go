package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/cmd/kinform/internal/recording"
	"github.com/kinform/kinform/reflector"
)

// viewOptions has the flags that "kinform view" has and "kinform watch" does not.
type viewOptions struct {
	listen string
	open   bool
	record string
	replay string
}

// View returns "kinform view".
func View() *cobra.Command {
	var opts Cluster
	var how viewOptions
	cmd := &cobra.Command{
		Use:   "view RESOURCE... | --replay FILE",
		Short: "Show informers that run on a cluster, on a page in a browser",
		Long: `view runs an informer for each named resource of a cluster. It serves a page on loopback that shows how the
informers work: list and watch, DeltaFIFO, store. view changes nothing in the cluster. It requests only the
metadata of objects, such as names and labels, and never their content. RESOURCE has the same form as for
kinform watch.

The printed address works for one browser. Other browsers need the token that is printed after the address.
So other users of this machine do not see your cluster.`,
		Example: `  kinform view pods
  kinform view pods deployments.apps nodes -A --open
  kinform view secrets -n kube-system --kubeconfig /etc/kubernetes/admin.conf
  kinform view pods --record today.jsonl
  kinform view --replay today.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case how.replay == "" && len(args) == 0:
				return errors.New("name resources to view, such as pods; 0 were given")
			case how.replay != "" && (len(args) > 0 || how.record != ""):
				return errors.New("--replay shows a recording: leave out resources and --record")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if how.replay != "" {
				return recording.Serve(cmd.Context(), how.replay, how.listen, how.open, func(where string) {
					fmt.Fprintf(cmd.OutOrStdout(), "See the recording in a browser, until Ctrl-C:\n%s\n", where)
				})
			}
			return how.view(cmd, opts, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return opts.Complete(cmd.Context())
		},
	}
	flags := cmd.Flags()
	opts.AddFlags(flags)
	flags.StringVar(&how.listen, "listen", "127.0.0.1:0", "the address of the page, on loopback; port 0 takes a free one")
	flags.BoolVar(&how.open, "open", false, "open the page in a browser")
	flags.StringVar(&how.record, "record", "", "a new file for a recording of the first resource's page")
	flags.StringVar(&how.replay, "replay", "", "a recording to show, instead of a cluster")
	return cmd
}

// view runs informers for the resources, and serves a page that shows them, until the context of
// cmd ends.
func (how viewOptions) view(cmd *cobra.Command, of Cluster, names []string) (err error) {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	l, err := of.Open(ctx, names, func(e reflector.Error) { printFailure(cmd.ErrOrStderr(), e) })
	if err != nil {
		return err
	}
	defer l.Close()
	file, err := recording.Start(l.View, how.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	listener, err := net.Listen("tcp", how.listen)
	if err != nil {
		return fmt.Errorf("cannot serve the page: %w", err)
	}
	var running sync.WaitGroup
	running.Go(func() { l.Run(ctx) })
	url := fmt.Sprintf("http://%v/", listener.Addr())
	fmt.Fprintf(cmd.OutOrStdout(), "See it at work in a browser, until Ctrl-C:\n%s\n", browse.Instructions(l.View, url))
	if how.open {
		err = browse.Open(l.View, url)
	}
	if err == nil {
		err = l.View.Serve(ctx, listener)
	} else {
		_ = listener.Close()
	}
	stop()
	running.Wait()
	return err
}
