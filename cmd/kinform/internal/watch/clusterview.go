package watch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/view"
)

// Cluster selects a cluster and objects, by the flags of "kinform view" and "kinform top".
type Cluster struct{ options options }

// AddFlags adds the flags.
func (c *Cluster) AddFlags(flags *pflag.FlagSet) {
	o := &c.options
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the namespace to view (default: the context's)")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "view all namespaces")
	flags.StringVarP(&o.labels, "selector", "l", "", "only objects with these labels, such as app=web,tier!=cache")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "the kubeconfig file (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&o.context, "context", "", "the context of the kubeconfig (default: its current one)")
	flags.DurationVar(&o.connectTimeout, "connect-timeout", 5*time.Second, "how long to wait until the cluster has listed its resources")
}

// Complete returns the names of the resources that can be viewed.
func (c *Cluster) Complete(ctx context.Context) ([]string, cobra.ShellCompDirective) {
	return c.options.completeResource(ctx)
}

// ClusterView has informers for some resources of a cluster, and a view that shows them.
type ClusterView struct {
	View *view.View

	client    *rest.Client
	informers []*informer.Informer[*metav1.PartialObjectMetadata]
}

// Open connects to the cluster, and makes informers that get only metadata. Their reflectors report
// failures to failed. The caller must call Close.
func (c *Cluster) Open(ctx context.Context, names []string, failed func(reflector.Error)) (*ClusterView, error) {
	o := c.options
	if err := o.validate(); err != nil {
		return nil, err
	}
	s, err := o.connect(ctx)
	if err != nil {
		return nil, explain(err, s.host, names[0])
	}
	l := &ClusterView{client: s.client}
	if err := l.addInformers(ctx, o, s, names, failed); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *ClusterView) addInformers(ctx context.Context, o options, s cluster, names []string, failed func(reflector.Error)) (err error) {
	if l.View, err = view.New(view.Options{Title: "kinform view of " + s.host, Private: true}); err != nil {
		return err
	}
	l.View.Client(s.client)
	for _, name := range names {
		resource, err := o.find(ctx, s.client, name)
		if err != nil {
			return explain(err, s.host, name)
		}
		what, selected := o.resourceOptions(s, resource)
		source, err := rest.For[*metav1.PartialObjectMetadata](s.client, selected)
		if err != nil {
			return explain(finalError{err}, s.host, name)
		}
		inf, err := informer.New(source, view.InformerOptions(l.View, informer.Options[*metav1.PartialObjectMetadata]{
			Name:      what,
			Logger:    slog.New(slog.DiscardHandler), // OnError reports failures.
			Reflector: reflector.Options{SkipUndecodable: true, OnError: failed},
		}))
		if err != nil {
			return err
		}
		if _, err := inf.AddHandler(func(informer.Event[*metav1.PartialObjectMetadata]) {}, informer.HandlerOptions{Name: "view"}); err != nil {
			return err
		}
		view.Informer(l.View, inf)
		l.informers = append(l.informers, inf)
	}
	return nil
}

// Run runs the informers until ctx ends.
func (l *ClusterView) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, inf := range l.informers {
		running.Go(func() { _ = inf.Run(ctx) }) // Run fails only if ctx ends.
	}
	running.Wait()
}

// Close closes the connections to the cluster.
func (l *ClusterView) Close() { l.client.Close() }
