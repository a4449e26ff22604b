package demo

import (
	"fmt"
	"io"
	"sync"
)

// output is where a report goes. After the first failure nothing more is written
// and the run is told to stop, for nobody would see the rest.
type output struct {
	to   io.Writer
	stop func()

	mu     sync.Mutex // guards following
	broken error
}

// Write is safe for concurrent use; each call is one piece that stays whole.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		return 0, o.broken
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.broken = fmt.Errorf("cannot write: %w", err)
		o.stop()
	}
	return n, o.broken
}

// failure is what kept the report from being written, nil if nothing did.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.broken
}
