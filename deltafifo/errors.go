package deltafifo

import "errors"

// ErrClosed says that the queue was closed: it takes nothing in any more, and
// Pop has handed out all that was pending. Stop feeding it, or reading from it.
var ErrClosed = errors.New("deltafifo: the queue is closed")
