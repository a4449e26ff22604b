package main

import (
	"errors"
	"log"
	"net/http"
	"time"
)

// ready fails where a cache is not what the server is: because that is not heard, or because
// an object cannot be read. That one is missing then, or older, and the error names it. It is
// a reason to call somebody, and none to restart.
func (c *controller) ready() error {
	const stale = 3 * time.Minute
	return errors.Join(c.siteCache.Healthy(stale), c.deploymentCache.Healthy(stale))
}

// serve lets others ask whether the controller is ready.
type serve func(ready func() error)

// serveAt has it asked by HTTP, as long as the process lives. Without an address, nobody is.
func serveAt(address string) serve {
	return func(ready func() error) {
		if address == "" {
			return
		}
		mux := http.NewServeMux()
		mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
			if err := ready(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
			}
		})
		server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: time.Second}
		go func() { log.Fatal(server.ListenAndServe()) }()
	}
}
