package contain

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// Hooks calls functions of a program that this module can do without, and recovers their panics.
// These functions are observers, and functions whose result has a default, such as rate limiters
// and grouping functions. Each panic is counted. The first panic of a hook is logged with its
// stack. Later panics are logged every few minutes, because a hook may panic for every object.
type Hooks struct {
	// Logger gets the panics, with Attrs, which identify the owner of these hooks.
	Logger *slog.Logger
	Attrs  []any

	mu        sync.Mutex // guards following
	panics    uint64
	panicking map[string]*logthrottle.Throttle // by the name of the hook
}

// Panics returns how many calls have panicked, or ended their goroutine.
func (h *Hooks) Panics() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.panics
}

// Call calls f. The argument what is the name of f in the log. Call reports whether f has returned.
// If f calls runtime.Goexit, Call logs this, and the goroutine ends.
func (h *Hooks) Call(what string, f func()) (returned bool) {
	defer func() {
		if !returned {
			h.recovered(what, recover())
		}
	}()
	f()
	return true
}

// recovered counts and logs how a function ended instead of returning: by a panic with this value,
// or by Goexit.
func (h *Hooks) recovered(what string, value any) {
	suppressed, due := h.count(what)
	if !due {
		return
	}
	message := "a function of the program panicked"
	if value == nil {
		message = "a function of the program ended its goroutine by runtime.Goexit"
	}
	Logger(h.Logger).With(h.Attrs...).Error(message, "function", what, "panic", fmt.Sprint(value), "unlogged", suppressed, "stack", string(debug.Stack()))
}

func (h *Hooks) count(what string) (suppressed uint64, due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.panics++
	throttle := h.panicking[what]
	if throttle == nil {
		if h.panicking == nil {
			h.panicking = map[string]*logthrottle.Throttle{}
		}
		throttle = new(logthrottle.Throttle)
		h.panicking[what] = throttle
	}
	return throttle.Due(0, time.Now())
}

// Hook returns a function that calls f through h, so that its panics are contained. It returns nil
// if f is nil.
func Hook[A any](h *Hooks, what string, f func(A)) func(A) {
	if f == nil {
		return nil
	}
	return func(a A) { h.Call(what, func() { f(a) }) }
}

// Hook2 is [Hook] for functions of two arguments.
func Hook2[A, B any](h *Hooks, what string, f func(A, B)) func(A, B) {
	if f == nil {
		return nil
	}
	return func(a A, b B) { h.Call(what, func() { f(a, b) }) }
}
