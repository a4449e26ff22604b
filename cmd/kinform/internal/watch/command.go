// Package watch shows the objects of one resource on any cluster, and what becomes
// of them, through an informer.
package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/spf13/cobra"
)

// options are the flags of "kinform watch".
type options struct {
	kubeconfig    string
	context       string
	namespace     string
	allNamespaces bool
	labels        string
	fields        string
	output        string
	duration      time.Duration
}

// connectWithin bounds the time until the cluster has answered the first
// question. Without it a host that swallows packets would look like one that
// thinks.
const connectWithin = 10 * time.Second

// Command returns "kinform watch".
func Command() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:   "watch RESOURCE",
		Short: "Watch a resource of a cluster through an informer",
		Long: `watch runs an informer on a resource of a cluster and prints the objects that there are, and
then each change. RESOURCE is a plural, singular or short name or a kind, if need be with its
group, as for kubectl: pods, po, deployments.apps, certificates.cert-manager.io.

The watch survives what an informer survives: dropped connections, restarted servers, expired
versions. What goes wrong on the way is told on standard error.`,
		Example: `  kinform watch pods -A
  kinform watch deploy -n kube-system -o json
  kinform watch pods -l app=web --field-selector status.phase=Running
  kinform watch certificates.cert-manager.io -A -o yaml --for 1m`,
		Args: exactlyOneResource,
		RunE: func(cmd *cobra.Command, args []string) error {
			return opts.run(cmd, args[0])
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return opts.completeResource(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.namespace, "namespace", "n", "", "the namespace to watch (default: the context's)")
	flags.BoolVarP(&opts.allNamespaces, "all-namespaces", "A", false, "watch all namespaces")
	flags.StringVarP(&opts.labels, "selector", "l", "", "only objects with these labels, such as app=web,tier!=cache")
	flags.StringVar(&opts.fields, "field-selector", "", "only objects with these fields, such as status.phase=Running")
	flags.StringVar(&opts.kubeconfig, "kubeconfig", "", "the kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&opts.context, "context", "", "the context of the kubeconfig (default: its current one)")
	flags.StringVarP(&opts.output, "output", "o", "table", `"table", "json" (one object a line) or "yaml"`)
	flags.DurationVar(&opts.duration, "for", 0, "end by itself after this time (0: until Ctrl-C)")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func exactlyOneResource(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one resource to watch, such as pods; %d were given", len(args))
	}
	return nil
}

// run connects, finds the resource, and watches it.
func (o options) run(cmd *cobra.Command, name string) error {
	if o.duration < 0 {
		return fmt.Errorf("--for must not be negative")
	}
	if o.allNamespaces && o.namespace != "" {
		return fmt.Errorf("--all-namespaces and --namespace contradict each other: use one")
	}
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: o.kubeconfig, Context: o.context})
	if err != nil {
		return err
	}
	client, err := rest.NewClient(connection.Config, rest.Options{})
	if err != nil {
		return err
	}
	defer client.Close()
	resource, err := find(cmd.Context(), client, name)
	if err != nil {
		return explain(err, connection.Config.Host, name)
	}
	if !o.allNamespaces && o.namespace == "" {
		o.namespace = connection.Namespace
	}
	if o.allNamespaces || !resource.Namespaced {
		o.namespace = ""
	}
	return explain(o.follow(cmd, client, resource), connection.Config.Host, resource.String())
}

// find asks the server what name means. A part of the API that cannot be
// discovered matters only if the resource may be in it.
func find(ctx context.Context, client *rest.Client, name string) (discovery.Resource, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectWithin, errNoAnswer)
	defer cancel()
	resources, incomplete := discovery.Resources(ctx, client)
	if len(resources) == 0 && incomplete != nil {
		return discovery.Resource{}, incomplete
	}
	resource, err := discovery.Find(resources, name)
	if err != nil && incomplete != nil {
		return resource, fmt.Errorf("%w (%w)", err, incomplete)
	}
	return resource, err
}

func (o options) completeResource(ctx context.Context) ([]string, cobra.ShellCompDirective) {
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: o.kubeconfig, Context: o.context})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	client, err := rest.NewClient(connection.Config, rest.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	resources, _ := discovery.Resources(ctx, client)
	var names []string
	for _, r := range resources {
		names = append(names, r.String())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
