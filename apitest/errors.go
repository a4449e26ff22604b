package apitest

import "errors"

// ErrClosed is the error of listening or dialling after [Server.Close].
var ErrClosed = errors.New("apitest: the server is closed")

// errStale says that an object is no longer what the writer based its change on.
var errStale = errors.New("the object has changed meanwhile")
