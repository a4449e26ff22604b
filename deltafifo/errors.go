package deltafifo

import "errors"

// ErrClosed means that the queue is closed. The methods of the producer return it, because the
// queue accepts no more changes. Pop returns it after it has handed out all pending changes.
var ErrClosed = errors.New("deltafifo: the queue is closed")
