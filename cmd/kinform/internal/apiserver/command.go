// Package apiserver serves the embedded API server on its own, for kubectl and
// any Kubernetes client.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// options are the flags of "kinform apiserver".
type options struct {
	listen        string
	pods          int
	namespaces    int
	churn         float64
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
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return opts.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.listen, "listen", "127.0.0.1:8001", "the address to listen on; port 0 takes a free one")
	flags.IntVar(&opts.pods, "pods", 0, "how many pods there are at the start")
	flags.IntVar(&opts.namespaces, "namespaces", 20, "how many namespaces they are in")
	flags.Float64Var(&opts.churn, "churn", 0, "creates, updates and deletes of pods a second")
	flags.StringVar(&opts.kubeconfigOut, "kubeconfig-out", "", "write a kubeconfig for this server to this file")
	return cmd
}

func (o options) run(cmd *cobra.Command) error {
	if o.pods < 0 || o.churn < 0 || o.namespaces < 1 {
		return errors.New("--pods and --churn must not be negative, and --namespaces at least 1")
	}
	server := apitest.New(apitest.Options{})
	defer server.Close()
	shape := apitest.PodOptions{Namespaces: o.namespaces}
	if err := apitest.Populate(server, apitest.Pods(o.pods, shape)); err != nil {
		return err
	}
	if err := server.Listen(o.listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", o.listen, err)
	}
	if o.kubeconfigOut != "" {
		connection := kubeconfig.Connection{Config: rest.Config{Host: server.URL()}, Context: "kinform"}
		if err := kubeconfig.Write(o.kubeconfigOut, connection); err != nil {
			return err
		}
		defer os.Remove(o.kubeconfigOut)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Serving %d pods at %s until Ctrl-C.\n", o.pods, server.URL())
	if !onLoopback(o.listen) {
		fmt.Fprintln(cmd.ErrOrStderr(), "kinform: warning: this server asks nobody who they are, and it does not listen on loopback only")
	}
	if o.kubeconfigOut != "" {
		fmt.Fprintf(out, "Try: KUBECONFIG=%s kubectl get pods -A\n", o.kubeconfigOut)
	}
	return o.serve(cmd.Context(), server, shape)
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
