// Command try does things with the tools and utils of a client, and prints what came of them. It is built with each of the two
// modules. A line without a tab names a case; the lines after it are what came of it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

const (
	// atOnce is how many cases run at a time. Most of them wait.
	atOnce = 64
	// longest is how long a case may take before it counts as one that hangs.
	longest = 40 * time.Second
)

// one is a case.
type one struct {
	name string
	fn   func(*outcome)
}

// together run at the same time, and alone one after the other, as they change what belongs to the process.
var together, alone []one

func try(name string, fn func(o *outcome)) { together = append(together, one{name, fn}) }

func tryAlone(name string, fn func(o *outcome)) { alone = append(alone, one{name, fn}) }

func main() {
	only := flag.String("only", "", "the beginning of the names of the cases to run")
	slow := flag.Bool("slow", false, "name the cases that take more than a second on stderr")
	flag.Parse()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	utilruntime.ReallyCrash = false
	tryAll()
	out := bufio.NewWriter(os.Stdout)
	var printing sync.Mutex
	run := func(c one) {
		if !strings.HasPrefix(c.name, *only) {
			return
		}
		start := time.Now()
		lines := c.run()
		if took := time.Since(start); *slow && took > time.Second {
			fmt.Fprintln(os.Stderr, took.Round(time.Millisecond), c.name)
		}
		printing.Lock()
		defer printing.Unlock()
		fmt.Fprintln(out, c.name)
		for _, text := range lines {
			fmt.Fprintln(out, "\t"+text)
		}
	}
	for _, c := range alone {
		run(c)
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, c := range together {
		room <- struct{}{}
		wg.Go(func() {
			defer func() { <-room }()
			run(c)
		})
	}
	wg.Wait()
	_ = out.Flush()
}

func tryAll() {
	tryRecorders()
	tryCorrelators()
	tryEvents()
	tryElections()
	tryLocks()
	tryCandidates()
	tryPagers()
	tryWatches()
	tryReferences()
	tryKeys()
	tryStores()
	tryHandlers()
	tryRetries()
	tryLimiters()
	tryManagers()
	tryCertificates()
	tryPrivateKeys()
	trySmall()
	tryQueues()
	tryTransports()
	tryManager()
}

// run returns what became of the case. What panics in it is a part of that.
func (c one) run() []string {
	o := &outcome{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				o.line("panic")
				if os.Getenv("TRY_PANICS") != "" {
					o.line(r)
				}
			}
		}()
		c.fn(o)
	}()
	select {
	case <-done:
	case <-time.After(longest):
		o.line("hangs")
	}
	return o.all()
}

// outcome is what became of a case. It is safe for concurrent use.
type outcome struct {
	mu     sync.Mutex // guards following
	lines  []string
	seen   map[string]bool
	asides []string
}

func oneLine(parts []any) string {
	return strings.ReplaceAll(strings.TrimSpace(fmt.Sprintln(parts...)), "\n", " | ")
}

// line notes what became of something, in one line.
func (o *outcome) line(parts ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, oneLine(parts))
}

// first notes what has not been noted before: what a loop does is there once, however often it has come round.
func (o *outcome) first(parts ...any) {
	text := oneLine(parts)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen[text] {
		return
	}
	if o.seen == nil {
		o.seen = map[string]bool{}
	}
	o.seen[text] = true
	o.lines = append(o.lines, text)
}

// aside notes what a goroutine of the client's has done at some time in the phase.
func (o *outcome) aside(parts ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asides = append(o.asides, oneLine(parts))
}

// phase ends a phase, after a moment for what goroutines do.
func (o *outcome) phase(parts ...any) {
	time.Sleep(150 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.asides)
	o.lines = append(append(o.lines, o.asides...), oneLine(parts))
	o.asides = nil
}

func (o *outcome) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.lines...)
}

// panics notes whether the function panics.
func (o *outcome) panics(name string, fn func()) {
	defer func() {
		if r := recover(); r != nil {
			o.line(name, "panics")
		}
	}()
	fn()
}

// within waits until the condition holds, and reports whether it came to that.
func within(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return condition()
}

// ends reports whether the channel is closed or has something in time.
func ends[T any](ch <-chan T) bool {
	select {
	case <-ch:
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// kindOf is what programs see of an error beside its text.
func kindOf(err error) string {
	if err == nil {
		return "no error"
	}
	kind := fmt.Sprintf("%T", err)
	if strings.HasPrefix(kind, "*errors.errorString") || strings.HasPrefix(kind, "*fmt.") {
		kind = "error"
	}
	for _, known := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			kind += " (" + known.Error() + ")"
		}
	}
	return kind + " " + err.Error()
}
