package view

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// Serve serves the page on a listener, until ctx ends; then it ends the streams of all who look, closes the listener, and
// returns nil. The view is closed then. Programs that have a server of their own mount the View there instead.
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
	// Streams end by themselves, but for those whose viewers do not read.
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

// Address returns the address to open, for a page at that URL. If the page needs the token, for all that it can do, the address
// ends with a new code that lets one browser in, once and within five minutes. When a second browser sends the code, neither is
// let in by it any more: each user of a machine can read the command line of a browser, and one of the two may be somebody else.
// A browser that has the token, or a session of another address, goes on.
func (v *View) Address(url string) string {
	if !v.Guarded() {
		return url
	}
	return url + "#code=" + v.sessions.newCode()
}

// Withdraw makes an [View.Address] useless that has let no browser in yet: the browser for which it was made did not start.
func (v *View) Withdraw(address string) {
	if _, code, ok := strings.Cut(address, "#code="); ok {
		v.sessions.withdraw(code)
	}
}

// Guarded reports whether the page needs the token, for all that it can do.
func (v *View) Guarded() bool { return v.opts.Laboratory != nil || v.opts.Private }
