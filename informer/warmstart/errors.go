package warmstart

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by errors about a file that is truncated, altered, or not in this package's
// format.
var ErrDamaged = errors.New("the file is damaged")

// ErrMismatch is wrapped by errors about a complete file for something else: another cluster, user,
// type, resource, selection or projection. The errors say what differs.
var ErrMismatch = errors.New("the file does not match")

// ErrUnknownSource is wrapped by errors about a source that does not identify its objects, so that
// another source's objects could be mistaken for its own: see [Options].Source.
var ErrUnknownSource = errors.New("the source does not identify its objects")

// ErrFormat is wrapped by errors about a file of an earlier or a later release.
var ErrFormat = errors.New("the file has another format")

// ErrUnsafe is wrapped by errors about a file that another user may have written, or a path that is
// not a regular file: a link, a directory, a pipe or a device.
var ErrUnsafe = errors.New("the file cannot be trusted")

// ErrSecrets is wrapped by errors about a file that contains Secrets, or would contain them,
// although [Options].Secrets is not set.
var ErrSecrets = errors.New("a file must not hold Secrets unless Options.Secrets is set")

// ErrIncomplete is wrapped by errors of Save about a store in which objects are missing or older
// than on the server.
var ErrIncomplete = errors.New("the store is incomplete, and is not saved")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}
