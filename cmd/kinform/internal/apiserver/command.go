// Package apiserver serves the embedded API server on its own, for kubectl and
// any Kubernetes client.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

// options are the flags of "kinform apiserver".
type options struct {
	listen        string
	pods          int
	namespaces    int
	churn         float64
	window        int
	kubeconfigOut string
}

// Command returns "kinform apiserver".
func Command() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:   "apiserver",
		Short: "Serve the embedded API server on its own",
		Long: `apiserver serves Kubernetes' API from memory, for kubectl and any other client: lists, watches,
writes, discovery, all built-in types and custom resource definitions. It has no controllers and
asks nobody who they are, so it should stay on loopback.`,
		Example: `  kinform apiserver --pods 1000 --churn 20 --kubeconfig-out /tmp/kinform.kubeconfig
  KUBECONFIG=/tmp/kinform.kubeconfig kubectl get pods -A -w`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return opts.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.listen, "listen", "127.0.0.1:8001", "the address to listen on; port 0 takes a free one")
	flags.IntVar(&opts.pods, "pods", 0, "how many pods there are at the start")
	flags.IntVar(&opts.namespaces, "namespaces", 20, "how many namespaces they are in")
	flags.Float64Var(&opts.churn, "churn", 0, "creates, updates and deletes of pods a second")
	flags.IntVar(&opts.window, "window", 10_000, "how many past changes it remembers; who asks for older ones is answered with 410 Gone")
	flags.StringVar(&opts.kubeconfigOut, "kubeconfig-out", "", "write a kubeconfig for this server to this file, and remove it at the end")
	return cmd
}

func (o options) validate() error {
	if o.pods < 0 || o.namespaces < 1 {
		return errors.New("--pods must not be negative, and --namespaces at least 1")
	}
	if !(o.churn >= 0) || math.IsInf(o.churn, 1) {
		return errors.New("--churn must be a number that is not negative")
	}
	if o.window < 1 {
		return errors.New("--window must be at least 1")
	}
	return nil
}

func (o options) run(cmd *cobra.Command) error {
	if err := o.validate(); err != nil {
		return err
	}
	server := apitest.New(apitest.Options{Admit: guard(o.listen), Window: o.window})
	defer server.Close()
	// Listen first: what is wrong with the address should not take the time that
	// many pods do.
	if err := server.Listen(o.listen); err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // It does not repeat the address.
		}
		return fmt.Errorf("cannot listen on %q: %w: choose another with --listen, such as 127.0.0.1:0", o.listen, err)
	}
	shape := apitest.PodOptions{Namespaces: o.namespaces}
	err := errors.Join(
		apitest.Populate(server, namespaces(o.namespaces)),
		apitest.Populate(server, apitest.Pods(o.pods, shape)),
	)
	if err != nil {
		return err
	}
	if o.kubeconfigOut != "" {
		remove, err := writeKubeconfig(o.kubeconfigOut, server.URL())
		if err != nil {
			return err
		}
		defer remove()
	}
	if !onLoopback(o.listen) {
		fmt.Fprintln(cmd.ErrOrStderr(), "kinform: warning: this server asks nobody who they are, and it does not listen on loopback only")
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Serving %d pods at %s until Ctrl-C.\n", o.pods, server.URL())
	if o.kubeconfigOut != "" {
		fmt.Fprintf(out, "Try: KUBECONFIG=%s kubectl get pods -A\n", o.kubeconfigOut)
	}
	return o.serve(cmd.Context(), server, shape)
}

// namespaces are those that the pods are in, and the one that clients use where
// nobody names one.
func namespaces(n int) iter.Seq[*corev1.Namespace] {
	return func(yield func(*corev1.Namespace) bool) {
		for i := range n + 1 {
			name := "default"
			if i > 0 {
				name = fmt.Sprintf("ns-%d", i-1)
			}
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			namespace.Status.Phase = corev1.NamespaceActive
			if !yield(namespace) {
				return
			}
		}
	}
}

// serve changes pods, if that is wanted, until ctx ends.
func (o options) serve(ctx context.Context, server *apitest.Server, shape apitest.PodOptions) error {
	if o.churn > 0 {
		if _, err := server.Churn(ctx, apitest.ChurnOptions{PerSecond: o.churn, Pods: shape}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
