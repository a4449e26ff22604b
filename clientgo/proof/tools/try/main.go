// Command try runs operations of client-go's packages below tools and util, and prints the results.
// It is built twice: with client-go and with clientgo. A line without a tab names a case. The lines
// after it are the results of the case.
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
	// atOnce is the number of cases that run at the same time. Most cases only wait.
	atOnce = 64
	// longest is the time after which a case counts as hanging.
	longest = 40 * time.Second
)

// testCase is a case: its name and its function.
type testCase struct {
	name string
	fn   func(*outcome)
}

// parallelCases run at the same time. serialCases run one after another, because they change the
// state of the process.
var parallelCases, serialCases []testCase

func try(name string, fn func(o *outcome)) { parallelCases = append(parallelCases, testCase{name, fn}) }

func tryAlone(name string, fn func(o *outcome)) {
	serialCases = append(serialCases, testCase{name, fn})
}

func main() {
	only := flag.String("only", "", "the beginning of the names of the cases to run")
	slow := flag.Bool("slow", false, "name the cases that take more than a second on stderr")
	flag.Parse()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	utilruntime.ReallyCrash = false
	tryAll()
	out := bufio.NewWriter(os.Stdout)
	var printing sync.Mutex
	run := func(c testCase) {
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
	for _, c := range serialCases {
		run(c)
	}
	var wg sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, c := range parallelCases {
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
	tryHelpers()
	tryQueues()
	tryTransports()
	tryManager()
}

// run returns the result of the case. A panic is a part of the result.
func (c testCase) run() []string {
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

// outcome is the result of a case. It is safe for concurrent use.
type outcome struct {
	mu         sync.Mutex // guards following
	lines      []string
	recorded   map[string]bool
	asyncLines []string
}

func oneLine(parts []any) string {
	return strings.ReplaceAll(strings.TrimSpace(fmt.Sprintln(parts...)), "\n", " | ")
}

// line records a result in one line.
func (o *outcome) line(parts ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, oneLine(parts))
}

// recordOnce records a result, unless the same result is recorded already. With first, the
// repetitions of a loop are recorded once.
func (o *outcome) recordOnce(parts ...any) {
	text := oneLine(parts)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.recorded[text] {
		return
	}
	if o.recorded == nil {
		o.recorded = map[string]bool{}
	}
	o.recorded[text] = true
	o.lines = append(o.lines, text)
}

// recordAsync records an action of a goroutine of the client. The action may happen at any time in
// the current phase.
func (o *outcome) recordAsync(parts ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asyncLines = append(o.asyncLines, oneLine(parts))
}

// phase ends the current phase, after a short wait for goroutines.
func (o *outcome) phase(parts ...any) {
	time.Sleep(150 * time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	slices.Sort(o.asyncLines)
	o.lines = append(append(o.lines, o.asyncLines...), oneLine(parts))
	o.asyncLines = nil
}

func (o *outcome) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.lines...)
}

// panics records whether the function fn panics.
func (o *outcome) panics(name string, fn func()) {
	defer func() {
		if r := recover(); r != nil {
			o.line(name, "panics")
		}
	}()
	fn()
}

// within waits until the condition holds or the limit has passed, and reports whether it holds.
func within(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return condition()
}

// ends reports whether the channel is closed or has a value before a timeout.
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

// kindOf returns the properties of an error, other than its text, that programs test for.
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
