package demo

import (
	"fmt"
	"io"
	"sync"
)

// output writes a report. After its first failure it writes nothing more, and stops the run,
// because the rest of the report would be lost.
type output struct {
	to   io.Writer
	stop func()

	mu  sync.Mutex // guards following
	err error
}

// Write is safe for concurrent use. The bytes of one call stay together.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = fmt.Errorf("cannot write: %w", err)
		o.stop()
	}
	return n, o.err
}

// failure returns the error of writing the report, or nil.
func (o *output) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
