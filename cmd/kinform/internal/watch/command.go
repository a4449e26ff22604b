// Package watch shows the objects of one resource on any cluster, and their changes. It uses an
// informer.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// options are the flags of "kinform watch".
type options struct {
	kubeconfig     string
	context        string
	namespace      string
	allNamespaces  bool
	labels         string
	fields         string
	output         string
	duration       time.Duration
	connectTimeout time.Duration
}

// completeWithin limits the time of a shell completion, because a person waits.
const completeWithin = 2 * time.Second

// Command returns "kinform watch".
func Command() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:   "watch RESOURCE",
		Short: "Watch a resource of a cluster through an informer",
		Long: `watch runs an informer on a resource of a cluster. It prints the existing objects, and then each
change. RESOURCE is a plural, singular or short name, or a kind, as for kubectl. It may have a
group: pods, po, deployments.apps, certificates.cert-manager.io.

The informer recovers from dropped connections, restarted servers and expired versions. watch
prints such failures to standard error.`,
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
	flags.DurationVar(&opts.connectTimeout, "connect-timeout", 5*time.Second, "how long to wait until the cluster has listed its resources")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json", "yaml"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func exactlyOneResource(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name one resource to watch, such as pods; %d were given", len(args))
	}
	return nil
}

func (o options) validate() error {
	if o.duration < 0 || o.connectTimeout <= 0 {
		return errors.New("--for must not be negative, and --connect-timeout must be positive")
	}
	if o.allNamespaces && o.namespace != "" {
		return errors.New("--all-namespaces and --namespace contradict each other: use one")
	}
	if _, err := labels.Parse(o.labels); err != nil {
		return fmt.Errorf("--selector %q is wrong: %w", o.labels, err)
	}
	if _, err := fields.ParseSelector(o.fields); err != nil {
		return fmt.Errorf("--field-selector %q is wrong: %w", o.fields, err)
	}
	return nil
}

// run connects, finds the resource, and watches it.
func (o options) run(cmd *cobra.Command, name string) error {
	if err := o.validate(); err != nil {
		return err
	}
	out, err := newPrinter(o.output, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	s, err := o.connect(cmd.Context())
	if err != nil {
		return explain(err, s.host, name)
	}
	defer s.client.Close()
	host := s.host
	resource, err := o.find(cmd.Context(), s.client, name)
	if err != nil {
		return explain(err, host, name)
	}
	what, selected := o.resourceOptions(s, resource)
	source, err := rest.For[*unstructured.Unstructured](s.client, selected)
	if err != nil {
		return explain(finalError{err}, host, name)
	}
	ctx := cmd.Context()
	if o.duration > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, o.duration)
		defer stop()
	}
	return explain(follow(ctx, source, what, out, cmd.ErrOrStderr()), host, what)
}

// cluster is a client for the cluster of a kubeconfig.
type cluster struct {
	client    *rest.Client
	host      string
	namespace string // namespace of the kubeconfig context
}

// connect makes a client, and logs in if necessary.
func (o options) connect(ctx context.Context) (s cluster, err error) {
	connection, err := kubeconfig.Load(kubeconfig.Options{Path: o.kubeconfig, Context: o.context})
	if err != nil {
		return s, finalError{err}
	}
	s.host, s.namespace = connection.Config.Host, connection.Namespace
	s.client, err = rest.NewClient(connection.Config, rest.Options{})
	if err != nil {
		return s, finalError{err}
	}
	// A login may take any time, so the timeout covers only the cluster.
	if err := s.client.Prepare(ctx); err != nil {
		s.client.Close()
		return s, err
	}
	return s, nil
}

// resourceOptions returns the options that select objects of a resource, and a description of the
// objects in words.
func (o options) resourceOptions(s cluster, resource discovery.Resource) (what string, selected rest.ResourceOptions) {
	what = resource.String()
	namespace := cmp.Or(o.namespace, s.namespace)
	if o.allNamespaces || !resource.Namespaced {
		namespace = ""
	} else {
		what += " in namespace " + namespace
	}
	if o.labels != "" || o.fields != "" {
		what += " that match"
	}
	return what, rest.ResourceOptions{Resource: resource.GVR(), Namespace: namespace, LabelSelector: o.labels, FieldSelector: o.fields}
}

// find looks up the resource that name refers to. If discovery fails for a part of the API, find
// fails only if the resource may be in that part.
func (o options) find(ctx context.Context, client *rest.Client, name string) (discovery.Resource, error) {
	ctx, cancel := context.WithTimeout(ctx, o.connectTimeout)
	defer cancel()
	resources, incomplete := discovery.Resources(ctx, client)
	if len(resources) == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return discovery.Resource{}, errNoResponse
	}
	if len(resources) == 0 && incomplete != nil {
		return discovery.Resource{}, incomplete
	}
	resource, err := discovery.Find(resources, name)
	switch {
	case err != nil && incomplete != nil:
		return resource, finalError{fmt.Errorf("%w (%w)", err, incomplete)}
	case err != nil:
		return resource, finalError{err}
	case !watchable(resource):
		return resource, finalError{fmt.Errorf("%s cannot be watched: the server allows only %s", resource, strings.Join(resource.Verbs, ", "))}
	}
	return resource, nil
}

// watchable reports whether an informer can run on a resource.
func watchable(r discovery.Resource) bool {
	return slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

// completeResource returns the names of the resources that can be watched.
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
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	resources, _ := discovery.Resources(ctx, client)
	var names []string
	for _, r := range resources {
		if watchable(r) && !slices.Contains(names, r.String()) {
			names = append(names, r.String())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
