package informer

import "sync/atomic"

// gate lets the reflector wait while a handler with Block holds up the informer. The zero gate is
// open. One goroutine closes the gate, and one passes it.
type gate struct {
	// closed has a channel while the gate is closed, and nil while it is open. The channel is
	// closed when the gate opens.
	closed atomic.Pointer[chan struct{}]
}

// close closes the gate until the returned function is called.
func (g *gate) close() (open func()) {
	opened := make(chan struct{})
	g.closed.Store(&opened)
	return func() {
		g.closed.Store(nil)
		close(opened)
	}
}

// pass waits until the gate is open.
func (g *gate) pass() {
	if opened := g.closed.Load(); opened != nil {
		<-*opened
	}
}
