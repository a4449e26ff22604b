package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/plain"
)

// textbookInstance is an informer of package plain and its server.
type textbookInstance struct {
	informer *plain.Informer[*corev1.Pod]
	handlers []*plain.Handler[*corev1.Pod]
	server   *fakeTransport
}

func openTextbook(pods []*corev1.Pod, handlers []func(*corev1.Pod)) (instance, error) {
	c := &textbookInstance{server: &fakeTransport{pods: pods, events: make(chan *corev1.Pod, buffered)}}
	client := &plain.Client[*corev1.Pod]{HTTP: &http.Client{Transport: c.server}, URL: "http://memory/api/v1/pods"}
	c.informer = plain.NewInformer(client, plain.Options[*corev1.Pod]{})
	for _, handle := range handlers {
		handler, err := c.informer.AddHandler(func(e plain.Event[*corev1.Pod]) {
			if e.Type == plain.Updated {
				handle(e.New)
			}
		})
		if err != nil {
			return nil, err
		}
		c.handlers = append(c.handlers, handler)
	}
	return c, nil
}

func (c *textbookInstance) run(ctx context.Context) { _ = c.informer.Run(ctx) }

func (c *textbookInstance) waitForSync(ctx context.Context) error {
	for _, h := range c.handlers {
		if err := until(ctx, h.Synced); err != nil {
			return err
		}
	}
	return nil
}

// until polls is until it returns true or ctx ends.
func until(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *textbookInstance) send(pod *corev1.Pod) { c.server.events <- pod }

// fakeTransport is an HTTP server without a connection: an http.RoundTripper that lists and watches
// in memory.
type fakeTransport struct {
	pods   []*corev1.Pod
	events chan *corev1.Pod
}

// RoundTrip implements http.RoundTripper.
func (w *fakeTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response := &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Request: r, Header: http.Header{}}
	if r.URL.Query().Get("watch") == "true" {
		response.Body = &wireWatch{ctx: r.Context(), events: w.events}
	} else {
		response.Body = io.NopCloser(bytes.NewReader(w.list()))
	}
	return response, nil
}

func (w *fakeTransport) list() []byte {
	list := []byte(`{"metadata":{"resourceVersion":"1"},"items":[`)
	for n, pod := range w.pods {
		if n > 0 {
			list = append(list, ',')
		}
		list = appendPod(list, pod)
	}
	return append(list, "]}"...)
}

// appendPod appends the fields of a pod that handlers and stores need, in JSON.
func appendPod(to []byte, pod *corev1.Pod) []byte {
	return fmt.Appendf(to, `{"metadata":{"namespace":%q,"name":%q,"resourceVersion":%q,"generation":%d}}`,
		pod.Namespace, pod.Name, pod.ResourceVersion, pod.Generation)
}

// wireWatch is the body of a watch. Each event is encoded when it is read.
type wireWatch struct {
	ctx    context.Context
	events <-chan *corev1.Pod
	event  []byte // the rest of the event that is being read
}

// Read implements io.Reader.
func (w *wireWatch) Read(into []byte) (n int, err error) {
	if len(w.event) == 0 {
		select {
		case pod := <-w.events:
			w.event = append(w.event[:0], `{"type":"MODIFIED","object":`...)
			w.event = append(appendPod(w.event, pod), "}\n"...)
		case <-w.ctx.Done():
			return 0, w.ctx.Err()
		}
	}
	n = copy(into, w.event)
	w.event = w.event[n:]
	return n, nil
}

// Close implements io.Closer.
func (w *wireWatch) Close() error { return nil }

func textbookGoroutines(ctx context.Context, url string, informers, handlers int) error {
	client := &plain.Client[*corev1.Pod]{HTTP: &http.Client{Transport: &http.Transport{}}, URL: url + "/api/v1/pods"}
	for range informers {
		inf := plain.NewInformer(client, plain.Options[*corev1.Pod]{})
		for range handlers {
			if _, err := inf.AddHandler(func(plain.Event[*corev1.Pod]) {}); err != nil {
				return err
			}
		}
		go func() { _ = inf.Run(ctx) }()
		if err := until(ctx, inf.Synced); err != nil {
			return err
		}
	}
	return nil
}
