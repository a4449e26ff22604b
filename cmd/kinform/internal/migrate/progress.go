package migrate

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// progressInterval is the longest time for which the command prints nothing while it works.
const progressInterval = 5 * time.Second

// progress reports to the user what the command is doing.
type progress struct{ to io.Writer }

// run prints what, and calls work. Every few seconds it prints the progress: how many lines work
// has written to its argument, and the last line. counted is the unit of the count, such as
// packages.
func (p progress) run(what, counted string, work func(said io.Writer) error) error {
	fmt.Fprintln(p.to, what)
	lines := &lineCounter{}
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(p.to, "  %s\n", lines.state(counted))
			}
		}
	})
	err := work(lines)
	close(done)
	wait.Wait()
	return err
}

// lineCounter counts lines, and keeps the last.
type lineCounter struct {
	mu    sync.Mutex // guards following
	count int
	last  string
	rest  []byte // start of an incomplete line
}

func (l *lineCounter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, p...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		l.count++
		l.last, l.rest = string(line), rest
	}
}

func (l *lineCounter) state(counted string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == 0 {
		return "still running"
	}
	return fmt.Sprintf("%d %s so far, the last: %s", l.count, counted, l.last)
}
