//go:build js && wasm

package main

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"syscall/js"
)

// page connects the page in the tab to the program. Requests and responses travel as messages.
// Otherwise they are like HTTP, and an http.Handler responds.
type page struct {
	handler http.Handler
	token   string
	worker  js.Value // the object of worker.js

	mu   sync.Mutex // guards following
	open map[int]*request
}

// request is a request in progress.
type request struct {
	cancel context.CancelFunc
	more   chan struct{} // signals that the page wants the next piece
}

// listen starts to handle the requests of the page.
func (p *page) listen() {
	worker := js.Global().Get("kinform")
	p.worker, p.open = worker, map[int]*request{}
	worker.Call("listen", js.FuncOf(func(_ js.Value, args []js.Value) any {
		p.receive(args[0])
		return nil
	}))
}

// receive handles a message. It must not block, because no other message can arrive until it
// returns.
func (p *page) receive(message js.Value) {
	id := message.Get("id").Int()
	p.mu.Lock()
	defer p.mu.Unlock()
	req := p.open[id]
	switch {
	case req == nil && message.Get("path").Type() == js.TypeString:
		ctx, cancel := context.WithCancel(context.Background())
		req = &request{cancel: cancel, more: make(chan struct{}, 1)}
		p.open[id] = req
		go func() { p.serve(ctx, id, req, message) }()
	case req == nil:
		// The response to the request may be complete already.
	case message.Get("cancel").Truthy():
		req.cancel()
	case message.Get("more").Truthy():
		select {
		case req.more <- struct{}{}:
		default:
		}
	}
}

// serve lets the handler respond to a request.
func (p *page) serve(ctx context.Context, id int, req *request, message js.Value) {
	defer func() {
		req.cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, id)
	}()
	r, err := http.NewRequestWithContext(ctx, message.Get("method").String(), "http://localhost/"+message.Get("path").String(),
		strings.NewReader(message.Get("body").String()))
	if err != nil {
		p.post(id, "failed", err.Error())
		return
	}
	headers := js.Global().Get("Object").Call("entries", message.Get("headers"))
	for i := range headers.Length() {
		r.Header.Set(headers.Index(i).Index(0).String(), headers.Index(i).Index(1).String())
	}
	// a local address, because the owner of the tab owns the program
	r.RemoteAddr = "127.0.0.1:1"
	r.Header.Set("Authorization", "Bearer "+p.token)
	w := &responseWriter{page: p, id: id, ctx: ctx, more: req.more, header: http.Header{}}
	defer func() {
		if e := recover(); e != nil && e != http.ErrAbortHandler {
			panic(e)
		} else if e != nil {
			p.post(id, "failed", "the response was interrupted")
			return
		}
		w.WriteHeader(http.StatusOK)
		p.post(id, "done", true)
	}()
	p.handler.ServeHTTP(w, r)
}

func (p *page) post(id int, what string, value any) {
	p.worker.Call("say", map[string]any{"id": id, what: value})
}

// responseWriter is an http.ResponseWriter that sends its writes to the page.
type responseWriter struct {
	page   *page
	id     int
	ctx    context.Context
	more   chan struct{}
	header http.Header
	begun  bool
}

// Header implements http.ResponseWriter.
func (a *responseWriter) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *responseWriter) WriteHeader(code int) {
	if a.begun {
		return
	}
	a.begun = true
	headers := map[string]any{}
	for name := range a.header {
		headers[name] = a.header.Get(name)
	}
	a.page.worker.Call("say", map[string]any{"id": a.id, "status": code, "headers": headers})
}

// Write implements http.ResponseWriter. It waits until the page requests the next piece.
func (a *responseWriter) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	select {
	case <-a.more:
	case <-a.ctx.Done():
		return 0, a.ctx.Err()
	}
	chunk := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(chunk, b)
	a.page.worker.Call("say", map[string]any{"id": a.id, "chunk": chunk}, []any{chunk.Get("buffer")})
	return len(b), nil
}

// Flush implements http.Flusher. It does nothing, because the page has received the data when Write
// returns.
func (a *responseWriter) Flush() {}
