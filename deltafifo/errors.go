package deltafifo

import "errors"

// ErrClosed says that the queue is closed: it accepts no more changes, and Pop has handed out all
// pending changes. Stop adding to the queue, or popping from it.
var ErrClosed = errors.New("deltafifo: the queue is closed")
