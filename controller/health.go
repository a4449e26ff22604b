package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// errStarting and errStopping say why a manager is not ready before and after it works.
var (
	errStarting = errors.New("the caches are not complete yet")
	errStopping = errors.New("the manager is shutting down")
)

// Ready returns nil while the manager works, or would work if it led. Otherwise the error names
// every problem. Ready returns nil only if
//
//   - the manager runs, and every cache is complete,
//   - every cache has received something within Options.MaxStaleness,
//   - no optional part has failed,
//   - no key has waited for one of its writes for more than 30 seconds,
//   - no key has been reconciled without one of its writes in the last five minutes.
func (m *Manager) Ready() error {
	var problems []error
	m.mu.Lock()
	// controllers is never changed in place.
	factories, controllers := slices.Clone(m.clusters), m.controllers
	for _, p := range m.parts {
		if p.err != nil {
			problems = append(problems, fmt.Errorf("part %s: %w", p.name, p.err))
		}
	}
	switch {
	case m.stopping:
		problems = append(problems, errStopping)
	case m.stage < Synced:
		problems = append(problems, errStarting)
	}
	m.mu.Unlock()
	for _, c := range factories {
		if err := c.factory.Healthy(m.opts.MaxStaleness); err != nil {
			problems = append(problems, err)
		}
	}
	for _, c := range controllers {
		if err := c.healthy(); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Handler serves the probes of a kubelet, and the endpoints of [Manager.Handle].
//
//   - /livez responds with 500 if the lease is lost and a reconcile goes on without it, and with
//     200 otherwise: a restart of the process repairs nothing else.
//   - /readyz responds with 200 while Ready returns nil, and otherwise with 503 and a line for each
//     problem. Errors may name objects and servers.
func (m *Manager) Handler() http.Handler { return m.endpoints }

// Handle adds an endpoint to [Manager.Handler], such as metrics or profiles. Options.Serve serves
// it as well. pattern is a pattern of [http.ServeMux], such as "GET /metrics". A response may take
// two minutes. The context of a request ends with Run, which waits for the handler.
func (m *Manager) Handle(pattern string, handler http.Handler) {
	m.configure(func() (err error) {
		if m.running {
			return fmt.Errorf("endpoint %q: %w", pattern, errRunning)
		}
		defer func() { // ServeMux panics if the pattern is invalid or taken.
			if panicked := recover(); panicked != nil {
				err = fmt.Errorf("controller: endpoint %q: %v", pattern, panicked)
			}
		}()
		m.endpoints.Handle(pattern, handler)
		return nil
	})
}

// addProbes adds the endpoints that every manager serves.
func (m *Manager) addProbes() {
	probe := func(code int, check func() error) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			err := check()
			if err == nil {
				_, _ = io.WriteString(w, "ok\n")
				return
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, strings.ToValidUTF8(err.Error(), "\uFFFD")+"\n")
		}
	}
	m.Handle("GET /livez", probe(http.StatusInternalServerError, m.alive))
	m.Handle("GET /readyz", probe(http.StatusServiceUnavailable, m.Ready))
}

func (m *Manager) alive() error {
	if m.opts.Elector == nil {
		return nil
	}
	return m.opts.Elector.Healthy()
}

// serve serves Handler until ctx ends.
func (m *Manager) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.opts.Serve)
	if err != nil {
		return fmt.Errorf("controller: Options.Serve: %w", err)
	}
	m.opts.Logger.Info("probes and other endpoints are served", "address", listener.Addr().String())
	var connections sync.WaitGroup // each has a goroutine for its requests
	server := &http.Server{
		Handler:           m.Handler(),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(m.opts.Logger.Handler(), slog.LevelError),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				connections.Add(1)
			case http.StateClosed, http.StateHijacked:
				connections.Done()
			}
		},
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		_ = server.Close()
	}()
	err = server.Serve(listener)
	if ctx.Err() != nil {
		<-ended
		connections.Wait()
		return nil
	}
	// The error ends the manager, and so ctx.
	return fmt.Errorf("controller: Options.Serve: %w", err)
}
