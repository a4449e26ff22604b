package apitest

import "errors"

// ErrClosed is the error of a listen or a dial after [Server.Close].
var ErrClosed = errors.New("apitest: the server is closed")
