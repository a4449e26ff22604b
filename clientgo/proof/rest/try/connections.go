package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
)

// tryConnections loses connections at every stage of a request.
func tryConnections() {
	s := serve(newResponse(200, textType, "fine"))
	defer s.Close()
	c := clientOf(s, disableKeepAlives)
	js := encoded(jsonType, pod("p"))
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	cases := map[string]response{
		"closed before headers": {}, "reset before headers": {reset: true}, "closed in headers": {raw: "HTTP/1.1 200 OK\r\nContent-"}, "closed in the first line": {raw: "HTT"},
		"closed after headers": {raw: head + "Content-Length: 100\r\n\r\n"}, "closed in the body": {raw: fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(js), js[:20])},
		"closed at the end": {raw: head + "\r\n" + js}, "closed in a chunk": {raw: head + "Transfer-Encoding: chunked\r\n\r\n100\r\n" + js[:10]},
		"closed between chunks": {raw: fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", head, len(js), js)}, "bad chunk": {raw: head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"},
		"garbage": {raw: "garbage\r\n\r\n"}, "bad version": {raw: "HTTP/9.9 200 OK\r\n\r\n"}, "bad header": {raw: "HTTP/1.1 200 OK\r\na b c\r\n\r\n"}, "bad code": {raw: "HTTP/1.1 abc OK\r\n\r\n"}, "bad length": {raw: "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"},
		"old protocol": {raw: "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nfine"}, "TLS": {raw: "\x15\x03\x01\x00\x02\x02\x16"}, "continue": {raw: "HTTP/1.1 100 Continue\r\n\r\n" + head + "Content-Length: 2\r\n\r\n{}"},
		"early hints": {raw: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head + "Content-Length: 2\r\n\r\n{}"}, "switching": {raw: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nmore"},
		"failing and closed": {raw: "HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nabc"}, "many headers": {raw: head + strings.Repeat("X: "+strings.Repeat("y", 1000)+"\r\n", 2000) + "\r\n"},
		"two lengths": {raw: head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"}, "more than the length": {raw: head + "Content-Length: 2\r\n\r\n{}more"}, "busy and closed": {raw: "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 100\r\n\r\nabc"},
	}
	for _, name := range sorted(cases) {
		for _, verb := range []string{"GET", "POST"} {
			block(fmt.Sprintf("connection %s %s", name, verb), func() {
				for _, body := range []string{"none", "bytes", "seeker", "reader"} {
					for _, next := range []response{cases[name], newResponse(200, jsonType, js)} {
						r := func() *rest.Request {
							r := c.Verb(verb).BackOffWithContext(&recordingBackoff{}).MaxRetries(2)
							switch body {
							case "bytes":
								r.Body([]byte("some"))
							case "seeker":
								r.Body(strings.NewReader("some"))
							case "reader":
								r.Body(io.MultiReader(strings.NewReader("some")))
							}
							return r
						}
						line(body)
						s.setResponses(cases[name], next)
						result := r().Do(background)
						raw, err := result.Raw()
						line(short(raw), kindOf(err), kindOf(result.Error()))
						s.printRequestCount()
						s.setResponses(cases[name], next)
						raw, err = r().DoRaw(background)
						line(short(raw), kindOf(err))
						s.printRequestCount()
						s.setResponses(cases[name], next)
						showStream(r())
						s.printRequestCount()
						s.setResponses(cases[name], next)
						showWatch(r())
						s.printRequestCount()
						printCounts()
					}
				}
			})
		}
	}
	// Errors of a program's own transport.
	failures := map[string]error{
		"mark": errProgram, "EOF": io.EOF, "unexpected EOF": io.ErrUnexpectedEOF, "reset": syscall.ECONNRESET, "refused": syscall.ECONNREFUSED, "pipe": syscall.EPIPE, "timeout": syscall.ETIMEDOUT,
		"wrapped reset": &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, "url EOF": &url.Error{Op: "Get", URL: "x", Err: io.EOF}, "closed": net.ErrClosed, "text reset": errors.New("x: connection reset by peer"),
		"text EOF": errors.New("EOF"), "broken": errors.New("http: can't write HTTP request on broken connection"), "lost": errors.New("http2: client connection lost"), "server closed": errors.New("http: server closed idle connection"),
		"goaway": errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=1"), "dns": &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, "dns timeout": &net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true},
		"skip": http.ErrUseLastResponse,
	}
	for _, name := range sorted(failures) {
		block("transport fails with "+name, func() {
			for _, verb := range []string{"GET", "POST"} {
				n := 0
				c := clientOf(s, func(c *rest.Config) {
					c.Transport = roundTripperFunc(func(r *http.Request) (*http.Response, error) { n++; return nil, failures[name] })
				})
				r := func() *rest.Request { return c.Verb(verb).BackOffWithContext(&recordingBackoff{}).MaxRetries(2) }
				line("do", kindOf(r().Do(background).Error()), n)
				_, err := r().DoRaw(background)
				line("doraw", kindOf(err), n)
				showStream(r())
				line(n)
				showWatch(r())
				line(n)
				printCounts()
				// The body fails too.
				c = clientOf(s, func(c *rest.Config) {
					c.Transport = roundTripperFunc(func(r *http.Request) (*http.Response, error) {
						n++
						return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {jsonType}}, Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), failingReader{failures[name]}))}, nil
					})
				})
				show(r().Do(background))
				raw, err := r().DoRaw(background)
				line("doraw", short(raw), kindOf(err), n)
				showStream(r())
				showWatch(r())
				line(n)
				printCounts()
			}
		})
	}
	block("an odd transport", func() {
		for i, resp := range []*http.Response{
			{StatusCode: 200}, {StatusCode: 404}, {StatusCode: 200, Body: http.NoBody}, {StatusCode: 0, Body: http.NoBody}, {StatusCode: 200, Body: http.NoBody, ContentLength: 7}, {StatusCode: 500, Body: http.NoBody, Status: "500 Odd"},
			{StatusCode: 503, Header: http.Header{"Retry-After": {"0"}}, Status: "odd"}, {StatusCode: 503, Header: http.Header{"Retry-After": {"0"}}, Status: "odd", Body: http.NoBody},
		} {
			c := clientOf(s, func(c *rest.Config) {
				c.Transport = roundTripperFunc(func(r *http.Request) (*http.Response, error) { resp := *resp; return &resp, nil })
			})
			line(i)
			printPanics(func() { show(c.Get().MaxRetries(1).Do(background)) })
			printPanics(func() {
				raw, err := c.Get().MaxRetries(1).DoRaw(background)
				line(short(raw), kindOf(err))
			})
			printPanics(func() { showStream(c.Get().MaxRetries(1)) })
			printPanics(func() { showWatch(c.Get().MaxRetries(1)) })
		}
	})
	block("a host with a name", func() {
		c := clientOf(s.setResponses(newResponse(200, textType, "fine")), func(c *rest.Config) { c.Host = strings.Replace(c.Host, "127.0.0.1", "localhost", 1) })
		raw, err := c.Get().DoRaw(background)
		line(short(raw), kindOf(err))
		counts.mu.Lock()
		for _, call := range counts.calls {
			if word, _, _ := strings.Cut(call, ":"); word != "" {
				line(word) // without the text, which has a port that differs between runs
			}
		}
		counts.mu.Unlock()
	})
	block("nobody there", func() {
		gone := serve(newResponse(200, textType, ""))
		c := clientOf(gone)
		gone.Close()
		line(kindOf(c.Get().Do(background).Error()))
		showStream(c.Get())
		showWatch(c.Get())
		for _, host := range []string{"http://127.0.0.1:0", "http://[::1", "http://host.invalid:1", "http://127.0.0.1:99999", "ftp://127.0.0.1", "unix:///x"} {
			c, err := rest.RESTClientFor(configOf(gone, func(c *rest.Config) { c.Host = host }))
			line(host, kindOf(err))
			if err == nil {
				line(lookups.ReplaceAllString(kindOf(c.Get().Do(background).Error()), "LOOKUP"))
			}
		}
		printCounts()
	})
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// disableKeepAlives disables connection reuse, because net/http retries by itself on a reused
// connection.
func disableKeepAlives(c *rest.Config) { c.Transport = &http.Transport{DisableKeepAlives: true} }

// printPanics runs a step of a case that may panic.
func printPanics(fn func()) {
	defer func() {
		if recover() != nil {
			line("panic")
		}
	}()
	fn()
}

// printRequestCount prints the number of requests that have arrived.
func (s *server) printRequestCount() {
	s.mu.Lock()
	defer s.mu.Unlock()
	line(len(s.requests), "times")
	s.requests = nil
}
