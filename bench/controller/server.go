package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"time"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kinform/kinform/apitest"
)

// serve is an API server behind a gate, in a process of its own, until the standard input ends.
func serve(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("controller server", flag.ExitOnError)
	upstream := flags.String("upstream", "", "kubeconfig of a real server")
	_ = flags.Parse(args)       // It exits.
	signal.Ignore(os.Interrupt) // Ctrl-C is for all at once, and the others need the server to the end.
	var handler http.Handler
	if *upstream != "" {
		proxy, err := proxyTo(*upstream)
		if err != nil {
			return err
		}
		handler = proxy
	} else {
		// As many past events as a real server keeps for a resource at most.
		api := apitest.New(apitest.Options{Window: 100_000})
		defer api.Close()
		handler = api
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newGate(handler), ReadHeaderTimeout: time.Minute}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// proxyTo passes requests on to a real server, with the rights of a kubeconfig.
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
		FlushInterval: -1, // Events of a watch are sent at once.
	}, nil
}
