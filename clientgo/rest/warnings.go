package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
)

// WarningHandler receives warnings of servers.
type WarningHandler interface {
	// HandleWarningHeader receives a code, the agent that warns, and the text.
	HandleWarningHeader(code int, agent string, text string)
}

// WarningHandlerWithContext receives warnings of servers, with the context of the request.
type WarningHandlerWithContext interface {
	HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, text string)
}

var fallback struct {
	mu      sync.RWMutex // guards following
	handler WarningHandlerWithContext
}

func init() { fallback.handler = WarningLogger{} }

// SetDefaultWarningHandler sets the handler for clients that have no handler. The initial default
// handler is a WarningLogger.
func SetDefaultWarningHandler(l WarningHandler) {
	SetDefaultWarningHandlerWithContext(adaptWarningHandler(l))
}

// SetDefaultWarningHandlerWithContext is SetDefaultWarningHandler for handlers that take a context.
func SetDefaultWarningHandlerWithContext(l WarningHandlerWithContext) {
	fallback.mu.Lock()
	defer fallback.mu.Unlock()
	fallback.handler = l
}

func defaultWarningHandler() WarningHandlerWithContext {
	fallback.mu.RLock()
	defer fallback.mu.RUnlock()
	return fallback.handler
}

// adaptWarningHandler adapts a handler without a context. It returns nil for nil.
func adaptWarningHandler(l WarningHandler) WarningHandlerWithContext {
	if l == nil {
		return nil
	}
	return warningHandlerAdapter{l}
}

type warningHandlerAdapter struct{ WarningHandler }

// HandleWarningHeaderWithContext implements [WarningHandlerWithContext].
func (w warningHandlerAdapter) HandleWarningHeaderWithContext(_ context.Context, code int, agent string, text string) {
	w.HandleWarningHeader(code, agent, text)
}

// NoWarnings drops warnings.
type NoWarnings struct{}

// HandleWarningHeader implements [WarningHandler].
func (NoWarnings) HandleWarningHeader(code int, agent string, message string) {}

// HandleWarningHeaderWithContext implements [WarningHandlerWithContext].
func (NoWarnings) HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, message string) {
}

// warningCode is the code of the warnings that handlers show. Warnings with other codes are about
// HTTP caches.
const warningCode = 299

// WarningLogger logs warnings of code 299.
type WarningLogger struct{}

// HandleWarningHeader implements [WarningHandler].
func (w WarningLogger) HandleWarningHeader(code int, agent string, message string) {
	if code == warningCode && message != "" {
		klog.Background().Info("Warning: " + message)
	}
}

// HandleWarningHeaderWithContext implements [WarningHandlerWithContext].
func (WarningLogger) HandleWarningHeaderWithContext(ctx context.Context, code int, agent string, message string) {
	if code == warningCode && message != "" {
		klog.FromContext(ctx).Info("Warning: " + message)
	}
}

// WarningWriterOptions configures a warning writer.
type WarningWriterOptions struct {
	// Deduplicate means that each text is written only once. The writer keeps every text in memory.
	Deduplicate bool
	// Color means that the word "Warning:" is yellow.
	Color bool
}

// warningWriter writes warnings of code 299.
type warningWriter struct {
	opts WarningWriterOptions

	mu      sync.Mutex // guards following; held during a write, so that lines don't mix
	out     io.Writer
	written sets.Set[string]
	count   int
}

// NewWarningWriter returns a handler that writes warnings of code 299 to out, one per line.
func NewWarningWriter(out io.Writer, opts WarningWriterOptions) *warningWriter {
	return &warningWriter{out: out, opts: opts, written: sets.New[string]()}
}

// HandleWarningHeader implements [WarningHandler].
func (w *warningWriter) HandleWarningHeader(code int, agent string, message string) {
	if code != warningCode || message == "" {
		return
	}
	word := "Warning:"
	if w.opts.Color {
		word = "\u001b[33;1m" + word + "\u001b[0m"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opts.Deduplicate && w.written.Has(message) {
		return
	}
	if w.opts.Deduplicate {
		w.written.Insert(message)
	}
	fmt.Fprintln(w.out, word, message)
	w.count++
}

// WarningCount returns the number of warnings that were written.
func (w *warningWriter) WarningCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// handleWarnings passes the warnings of a response to a handler. If handler is nil, it uses the
// default handler.
func handleWarnings(ctx context.Context, headers http.Header, handler WarningHandlerWithContext) []net.WarningHeader {
	if handler == nil {
		handler = defaultWarningHandler()
	}
	if len(headers["Warning"]) == 0 {
		return nil
	}
	warnings, _ := net.ParseWarningHeaders(headers["Warning"])
	if handler != nil {
		for _, w := range warnings {
			handler.HandleWarningHeaderWithContext(ctx, w.Code, w.Agent, w.Text)
		}
	}
	return warnings
}
