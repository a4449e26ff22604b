package deltafifo

import "errors"

// ErrClosed says that the queue is closed: it accepts no more changes, and Pop has handed
// out all pending ones. Stop adding to it, or popping from it.
var ErrClosed = errors.New("deltafifo: the queue is closed")
