package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/cmd/kinform/internal/browse"
	"github.com/kinform/kinform/cmd/kinform/internal/recording"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
)

// looking are the flags of "kinform view" that "kinform watch" does not have.
type looking struct {
	listen string
	open   bool
	record string
	replay string
}

// View returns "kinform view".
func View() *cobra.Command {
	var opts options
	var how looking
	cmd := &cobra.Command{
		Use:   "view RESOURCE... | --replay FILE",
		Short: "Show informers on a cluster at work, on a page in a browser",
		Long: `view runs an informer on each of some resources of a cluster, and serves a page on loopback that shows them
at work: list and watch, DeltaFIFO, store. It changes nothing, and asks the server only for names, labels and the
like (metadata) of objects, never for what is in them. RESOURCE is as for watch.

The address that it prints has a secret at its end, so that others on this machine do not see your cluster.`,
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
				return errors.New("--replay shows a recording: resources and --record have no meaning then")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if how.replay != "" {
				return recording.Serve(cmd.Context(), how.replay, how.listen, how.open, func(url string) {
					fmt.Fprintf(cmd.OutOrStdout(), "See the recording in a browser, until Ctrl-C:\n%s\n", url)
				})
			}
			return opts.view(cmd, args, how)
		},
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return opts.completeResource(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.namespace, "namespace", "n", "", "the namespace to view (default: the context's)")
	flags.BoolVarP(&opts.allNamespaces, "all-namespaces", "A", false, "view all namespaces")
	flags.StringVarP(&opts.labels, "selector", "l", "", "only objects with these labels, such as app=web,tier!=cache")
	flags.StringVar(&opts.kubeconfig, "kubeconfig", "", "the kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&opts.context, "context", "", "the context of the kubeconfig (default: its current one)")
	flags.DurationVar(&opts.connectTimeout, "connect-timeout", 5*time.Second, "how long to wait for the cluster to say what it has")
	flags.StringVar(&how.listen, "listen", "127.0.0.1:0", "the address of the page, on loopback; port 0 takes a free one")
	flags.BoolVar(&how.open, "open", false, "open the page in a browser")
	flags.StringVar(&how.record, "record", "", "a new file to write what the page shows of the first resource to")
	flags.StringVar(&how.replay, "replay", "", "a recording to show, instead of a cluster")
	return cmd
}

// view runs informers on resources, and serves the page about them, until the context of cmd ends.
func (o options) view(cmd *cobra.Command, names []string, how looking) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	s, err := o.connect(ctx)
	if err != nil {
		return explain(err, s.host, names[0])
	}
	defer s.client.Close()
	picture, err := view.New(view.Options{Title: "kinform view of " + s.host, Private: true})
	if err != nil {
		return err
	}
	picture.Client(s.client)
	var informers []*informer.Informer[*metav1.PartialObjectMetadata]
	for _, name := range names {
		resource, err := o.find(ctx, s.client, name)
		if err != nil {
			return explain(err, s.host, name)
		}
		what, selected := o.selection(s, resource)
		source, err := rest.For[*metav1.PartialObjectMetadata](s.client, selected)
		if err != nil {
			return explain(complete{err}, s.host, name)
		}
		inf, err := informer.New(source, view.InformerOptions(picture, informer.Options[*metav1.PartialObjectMetadata]{
			Name:      what,
			Logger:    slog.New(slog.DiscardHandler), // OnError tells people of failures.
			Reflector: reflector.Options{SkipUnreadable: true, OnError: func(e reflector.Error) { tell(cmd.ErrOrStderr(), e) }},
		}))
		if err != nil {
			return err
		}
		if _, err := inf.AddHandler(func(informer.Event[*metav1.PartialObjectMetadata]) {}, informer.HandlerOptions{Name: "view"}); err != nil {
			return err
		}
		view.Informer(picture, inf)
		informers = append(informers, inf)
	}
	file, err := recording.Start(picture, how.record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	listener, err := net.Listen("tcp", how.listen)
	if err != nil {
		return fmt.Errorf("cannot serve the page: %w", err)
	}
	var running sync.WaitGroup
	for _, inf := range informers {
		running.Go(func() { _ = inf.Run(ctx) }) // It ends with ctx alone.
	}
	url := picture.Address(fmt.Sprintf("http://%v/", listener.Addr()))
	fmt.Fprintf(cmd.OutOrStdout(), "See it at work in a browser, until Ctrl-C:\n%s\n", url)
	if how.open {
		err = browse.Open(url)
	}
	if err == nil {
		err = picture.Serve(ctx, listener)
	} else {
		_ = listener.Close()
	}
	stop()
	running.Wait()
	return err
}
