package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/spf13/pflag"
)

// etcd reports that it is healthy on its client addresses, until ctx ends. It stores nothing:
// kubeAPIServer keeps the objects in memory.
func etcd(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	used := pflag.NewFlagSet("", pflag.ContinueOnError)
	addresses := used.StringSlice("listen-client-urls", []string{"http://127.0.0.1:2379"}, "where /health is served")
	if printed, err := parseFlags("etcd", used, etcdFlags, args, stdout, stderr); printed || err != nil {
		return err
	}
	health := http.NewServeMux()
	health.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"health":"true","reason":""}`)
	})
	server := &http.Server{Handler: health}
	var serving sync.WaitGroup
	defer serving.Wait()
	defer server.Close()
	for _, address := range *addresses {
		at, err := url.Parse(address)
		if err != nil || at.Scheme != "http" {
			return fmt.Errorf("--listen-client-urls %q is wrong: kinform serves http://HOST:PORT", address)
		}
		l, err := net.Listen("tcp", at.Host)
		if err != nil {
			return fmt.Errorf("--listen-client-urls %q: %w", address, listenCause(err))
		}
		serving.Go(func() { _ = server.Serve(l) })
	}
	<-ctx.Done()
	return nil
}

// listenCause returns the reason of a listen error, without the address.
func listenCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
