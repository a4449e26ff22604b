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
// all viewers, closes the listener, and returns nil. A program with an HTTP server of its own
// mounts the View there instead.
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
	// Streams end by themselves, except if the viewer does not read.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
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

// Address returns the address to open for a page at that URL. If the page is guarded, the address
// ends with a new code that admits one browser, once and within five minutes. If a second browser
// sends the code, neither browser stays admitted. Every user of a machine can read a browser's
// command line, so one of the two may be an intruder. A browser that has the token, or a session of
// another address, stays admitted.
func (v *View) Address(url string) string {
	if !v.Guarded() {
		return url
	}
	return url + "#code=" + v.sessions.newCode()
}

// Withdraw invalidates an [View.Address] that has not admitted a browser yet. Call it if the
// intended browser did not start.
func (v *View) Withdraw(address string) {
	if _, code, ok := strings.Cut(address, "#code="); ok {
		v.sessions.withdraw(code)
	}
}

// Guarded reports whether some requests need the token: there is a laboratory, or the view is
// private.
func (v *View) Guarded() bool { return v.opts.Laboratory != nil || v.opts.Private }
