package main

import (
	"flag"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/bench/internal/subprocess"
)

// serve runs an API server behind a counting proxy, in a process of its own, until standard input
// ends.
func serve(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("controller server", flag.ExitOnError)
	upstream := flags.String("upstream", "", "kubeconfig of a real server")
	_ = flags.Parse(args) // exits on an error
	// Ctrl-C reaches all processes, but the controllers need the server until they have ended
	signal.Ignore(os.Interrupt)
	var handler http.Handler
	if *upstream != "" {
		proxy, err := proxyTo(*upstream)
		if err != nil {
			return err
		}
		handler = proxy
	} else {
		// This window is the largest that a real server keeps for a resource.
		api := apitest.New(apitest.Options{Window: 100_000})
		defer api.Close()
		handler = api
	}
	return subprocess.Serve(newCountingProxy(handler), out)
}

// proxyTo forwards requests to a real server, with the credentials of a kubeconfig.
func proxyTo(file string) (http.Handler, error) {
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		return nil, err
	}
	transport, err := restclient.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // flushes the events of a watch at once
	}, nil
}
