package apitest

import "errors"

// ErrClosed is the error if a program listens or dials after [Server.Close].
var ErrClosed = errors.New("apitest: the server is closed")

// errStale reports that the object has changed since the writer read it.
var errStale = errors.New("the object has changed meanwhile")
