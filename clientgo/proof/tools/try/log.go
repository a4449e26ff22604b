package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// lines is a log that records its lines.
type lines struct {
	level int

	mu  sync.Mutex // guards following
	all []string
}

// logger returns a logger with this verbosity.
func (l *lines) logger(level int) klog.Logger {
	l.level = level
	return logr.FromSlogHandler(handler{l, ""})
}

func (l *lines) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.all...)
}

type handler struct {
	l     *lines
	attrs string
}

func (h handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.Level(-h.l.level)
}
func (h handler) WithGroup(string) slog.Handler { return h }
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += " " + a.String()
	}
	return h
}

func (h handler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	_, _ = fmt.Fprint(&b, r.Level, " ", r.Message, h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		_, _ = fmt.Fprint(&b, " ", a)
		return true
	})
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	h.l.all = append(h.l.all, b.String())
	return nil
}
