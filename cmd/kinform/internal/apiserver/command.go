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
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/apitest/fielddocs"
	"github.com/kinform/kinform/rest"
)

// options are the flags of "kinform apiserver".
type options struct {
	listen        string
	pods          int
	namespaces    int
	churn         float64
	kubeconfigOut string
	caOut         string
	rbac          string
	faults        []string
	server        apitest.Options
}

// Command returns "kinform apiserver".
func Command() *cobra.Command {
	var opts options
	cmd := &cobra.Command{
		Use:   "apiserver",
		Short: "Serve the embedded API server on its own",
		Long: `apiserver serves Kubernetes' API from memory, for kubectl and any other client: lists, watches,
writes, discovery, all built-in types and custom resource definitions. By default, it has no
controllers and no authentication, so it should stay on loopback.

The file for --rbac has, in YAML, the tokens of users, and rules that allow requests. The server
forbids all other requests. The kubeconfig of --kubeconfig-out has a client certificate of the
group system:masters, which may do everything.

  tokens:
    secret-of-alice: {name: alice, groups: [developers]}
  rules:
  - groups: [developers]
    namespaces: [default]
    verbs: [get, list, watch]
    apiGroups: [""]
    resources: [pods, pods/status]

` + faultHelp,
		Example: `  kinform apiserver --pods 1000 --churn 20 --kubeconfig-out /tmp/kinform.kubeconfig
  KUBECONFIG=/tmp/kinform.kubeconfig kubectl get pods -A -w
  kinform apiserver --tls --run-pods --garbage-collection --check-schemas --kubeconfig-out /tmp/kinform.kubeconfig
  kinform apiserver --fault expired,verb=watch,probability=0.2 --fault delay=300ms,verb=list`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return opts.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.listen, "listen", "127.0.0.1:8001", "the address to listen on; port 0 takes a free one")
	flags.IntVar(&opts.pods, "pods", 0, "how many pods there are at the start")
	flags.IntVar(&opts.namespaces, "namespaces", 20, "how many namespaces the pods are in, besides the namespaces that every cluster has")
	flags.Float64Var(&opts.churn, "churn", 0, "creates, updates and deletes of pods a second")
	flags.StringVar(&opts.kubeconfigOut, "kubeconfig-out", "", "write a kubeconfig for this server to this file, and remove it at the end")

	flags.BoolVar(&opts.server.TLS, "tls", false, "serve HTTPS; the file of --kubeconfig-out then has the CA certificate and a client certificate")
	flags.StringVar(&opts.caOut, "ca-out", "", "write the CA certificate to this file, and remove it at the end")
	flags.StringVar(&opts.rbac, "rbac", "", "a file with tokens and rules, as shown above; needs --tls")

	flags.BoolVar(&opts.server.GarbageCollection, "garbage-collection", false, "delete objects whose owners are gone, and follow --cascade of kubectl delete")
	flags.BoolVar(&opts.server.RunPods, "run-pods", false, "bind pods to nodes, and make them running and ready at once")
	flags.BoolVar(&opts.server.CheckSchemas, "check-schemas", false, "check custom resources against their schemas, set defaults and prune; rules in CEL are not evaluated")
	flags.BoolVar(&opts.server.ManagedFields, "managed-fields", false, "record the managers of fields for every object, even before its first server-side apply")

	flags.StringArrayVar(&opts.faults, "fault", nil, "a fault, such as expired,verb=watch,times=2; see above; can be repeated")
	flags.IntVar(&opts.server.Window, "window", 10_000, "how many past changes the server keeps; requests for older changes get 410 Gone")
	flags.DurationVar(&opts.server.BookmarkInterval, "bookmark-interval", time.Minute, "the time between bookmarks of a watch")
	flags.DurationVar(&opts.server.WatchTimeout, "watch-timeout", 30*time.Minute, "the time after which a watch ends, if its request has no timeout")
	flags.BoolVar(&opts.server.NoWatchList, "no-watch-list", false, "refuse streaming lists, as a server without this feature does")
	flags.BoolVar(&opts.server.NoAggregatedDiscovery, "no-aggregated-discovery", false, "serve discovery only by group version, as old servers do")
	flags.BoolVar(&opts.server.PagedCacheLists, "paged-cache-lists", false, "respect the limit of lists at resourceVersion 0")
	flags.Uint64Var(&opts.server.Seed, "seed", 0, "the seed for uids, generated names and the probability of faults")
	return cmd
}

func (o options) validate() error {
	if o.pods < 0 || o.namespaces < 1 {
		return errors.New("--pods must not be negative, and --namespaces at least 1")
	}
	if !(o.churn >= 0) || math.IsInf(o.churn, 1) {
		return errors.New("--churn must be a number that is not negative")
	}
	if o.server.Window < 1 {
		return errors.New("--window must be at least 1")
	}
	if o.server.BookmarkInterval <= 0 || o.server.WatchTimeout <= 0 {
		return errors.New("--bookmark-interval and --watch-timeout must be more than 0")
	}
	if o.rbac != "" && !o.server.TLS {
		return errors.New("--rbac needs --tls: over plain HTTP, clients do not send the tokens of their kubeconfig")
	}
	if o.caOut != "" && !o.server.TLS {
		return errors.New("--ca-out needs --tls")
	}
	return nil
}

func (o options) run(cmd *cobra.Command) error {
	if err := o.validate(); err != nil {
		return err
	}
	o.server.Admit, o.server.FieldDocs = guard(o.listen), fielddocs.Of
	var faults []apitest.Fault
	for _, text := range o.faults {
		fault, err := parseFault(text)
		if err != nil {
			return err
		}
		faults = append(faults, fault)
	}
	if o.rbac != "" {
		a, err := readAccess(o.rbac)
		if err != nil {
			return err
		}
		o.server.Tokens, o.server.Rules = a.Tokens, a.Rules
	}
	server := apitest.New(o.server)
	defer server.Close()
	// Listen first, so that an error in the address is reported before the slow creation of many
	// pods.
	if err := server.Listen(o.listen); err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // the wrapped error without the address
		}
		return fmt.Errorf("cannot listen on %q: %w: choose another with --listen, such as 127.0.0.1:0", o.listen, err)
	}
	podOptions := apitest.PodOptions{Namespaces: o.namespaces}
	podNamespaces := o.namespaces
	if o.pods == 0 && o.churn == 0 {
		podNamespaces = 0
	}
	err := errors.Join(
		apitest.Populate(server, Namespaces(podNamespaces)),
		apitest.Populate(server, apitest.Pods(o.pods, podOptions)),
	)
	if err != nil {
		return err
	}
	if o.kubeconfigOut != "" {
		to := rest.Config{Host: server.URL()}
		if o.server.TLS {
			// If a kubeconfig has a CA but no credentials, kubectl prompts for a user name.
			cert, key := server.ClientCertificate()
			to.TLS = rest.TLSConfig{CAData: server.CA(), CertData: cert, KeyData: rest.NewSecret(string(key))}
			if !onLoopback(o.listen) {
				to.TLS.ServerName = ownName // The certificate has this name, but not the address.
			}
		}
		remove, err := writeKubeconfig(o.kubeconfigOut, to)
		if err != nil {
			return err
		}
		defer remove()
	}
	if o.caOut != "" {
		remove, err := writeCA(o.caOut, server.CA())
		if err != nil {
			return err
		}
		defer remove()
	}
	for _, fault := range faults { // only now, because the server must first have its objects
		server.Inject(fault)
	}
	if !onLoopback(o.listen) && o.rbac == "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "kinform: warning: this server has no authentication, and does not listen on loopback only")
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Serving %d pods at %s until Ctrl-C.\n", o.pods, server.URL())
	if o.kubeconfigOut != "" {
		fmt.Fprintf(out, "Try: KUBECONFIG=%s kubectl get pods -A\n", o.kubeconfigOut)
	}
	return o.serve(cmd.Context(), server, podOptions)
}

// Namespaces returns the namespaces that every cluster has, and n more. [apitest.Pods] uses the
// names of these n for its pods.
func Namespaces(n int) iter.Seq[*corev1.Namespace] {
	names := []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease}
	for i := range n {
		names = append(names, fmt.Sprintf("ns-%d", i))
	}
	return func(yield func(*corev1.Namespace) bool) {
		for _, name := range names {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			namespace.Status.Phase = corev1.NamespaceActive
			if !yield(namespace) {
				return
			}
		}
	}
}

// serve runs until ctx ends. If churn is set, it changes pods meanwhile.
func (o options) serve(ctx context.Context, server *apitest.Server, podOptions apitest.PodOptions) error {
	if o.churn > 0 {
		if _, err := server.Churn(ctx, apitest.ChurnOptions{PerSecond: o.churn, Pods: podOptions}); err != nil {
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
