package contain

import (
	"context"
	"log/slog"
)

// Logger returns a logger that writes to l, or to slog.Default() if l is nil. If a program's log
// handler panics, Logger drops the line, because the panic cannot be logged either.
func Logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		l = slog.Default()
	}
	if _, ok := l.Handler().(handler); ok {
		return l
	}
	return slog.New(handler{l.Handler()})
}

// handler contains the panics of another handler.
type handler struct{ next slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	defer func() { _ = recover() }()
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, r slog.Record) (err error) {
	defer func() { _ = recover() }()
	return h.next.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.next.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) (with slog.Handler) {
	defer func() {
		if recover() != nil {
			with = h
		}
	}()
	return handler{h.next.WithGroup(name)}
}
