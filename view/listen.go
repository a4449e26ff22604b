package view

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// Serve serves the page on a listener until ctx ends. Then it closes the view, ends the streams of
// all viewers, closes the listener, and returns nil. A program with its own HTTP server mounts the
// View there instead.
func (v *View) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: v, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	var failed error
	select {
	case failed = <-ended:
	case <-ctx.Done():
	}
	v.Close()
	// Streams end by themselves, unless a viewer does not read.
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(shutdownCtx); err != nil {
		_ = server.Close()
	}
	if failed == nil {
		failed = <-ended
	}
	if errors.Is(failed, http.ErrServerClosed) {
		return nil
	}
	return failed
}

// Address returns the address at which a browser opens the page of that URL. If the page is
// guarded, the address ends with a new one-time code. The code admits one browser and expires after
// five minutes. If a second browser sends the code, both browsers lose their access. Every user of
// a machine can read a browser's command line, so one of the two may be an intruder. A browser that
// also has the token, or a session from another address, keeps its access.
func (v *View) Address(url string) string {
	if !v.Guarded() {
		return url
	}
	return url + "#code=" + v.sessions.newCode()
}

// Withdraw invalidates an [View.Address] that no browser has used yet. Call it if the browser that
// should open the address did not start.
func (v *View) Withdraw(address string) {
	if _, code, ok := strings.Cut(address, "#code="); ok {
		v.sessions.withdraw(code)
	}
}

// Guarded reports whether some requests need the token. This is true if there is a laboratory, or
// if the view is private.
func (v *View) Guarded() bool { return v.opts.Laboratory != nil || v.opts.Private }
