package apitest

import "errors"

// ErrClosed is the error of a listen or a dial after [Server.Close].
var ErrClosed = errors.New("apitest: the server is closed")

// errStale means that the object has changed since the writer read it.
var errStale = errors.New("the object has changed meanwhile")
