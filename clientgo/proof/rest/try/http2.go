package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
)

// tryHTTP2 breaks HTTP/2 streams.
func tryHTTP2(c *certificates, certificate tls.Certificate) {
	breaking := func(start string, flush bool) response {
		return response{fn: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, start)
			if flush {
				_ = http.NewResponseController(w).Flush()
			}
			panic(http.ErrAbortHandler)
		}}
	}
	s := newUnstartedServer(response{})
	s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	defer s.CloseClientConnections()
	client := clientOf(s, func(config *rest.Config) { config.CAData = c.ca })
	event := eventOf(jsonType, "ADDED", pod("a"))
	for i, a := range []response{breaking("", false), breaking("", true), breaking(`{"kind":`, true), breaking(event, true), breaking(event+event[:9], true), newResponse(200, jsonType, event), newResponse(503, textType, "busy").withHeader("Retry-After", "0")} {
		for _, verb := range []string{"GET", "POST"} {
			block(fmt.Sprintf("HTTP/2 %d %s", i, verb), func() {
				s.setResponses(a)
				r := func() *rest.Request { return client.Verb(verb).BackOffWithContext(&recordingBackoff{}).MaxRetries(2) }
				show(r().Do(background))
				raw, err := r().DoRaw(background)
				line(short(raw), kindOf(err))
				showStream(r())
				showWatch(r())
				s.printRequests()
				printCounts()
			})
		}
	}
}
