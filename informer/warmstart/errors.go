package warmstart

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by errors about a file that is cut off, was changed, or is
// none of this package's.
var ErrDamaged = errors.New("the file is damaged")

// ErrOther is wrapped by errors about a file that is whole and holds something
// else: another cluster's objects, another user's, or another type, resource,
// selection or projection. They say what differs.
var ErrOther = errors.New("the file holds something else")

// ErrUnknownSource is wrapped by errors about a source that does not say which
// objects it has, so that those of another could be taken for its own: see
// [Options].Source.
var ErrUnknownSource = errors.New("the source does not say which objects it has")

// ErrFormat is wrapped by errors about a file of an earlier or a later release.
var ErrFormat = errors.New("the file has another format")

// ErrUnsafe is wrapped by errors about a file that somebody else may have written, or
// that is none: a link, a directory, a pipe or a device.
var ErrUnsafe = errors.New("the file is not to be trusted")

// ErrSecrets is wrapped by errors about a file that has Secrets, or would have them,
// where [Options].Secrets does not ask for that.
var ErrSecrets = errors.New("secrets are kept in a file only where Options.Secrets says so")

// ErrIncomplete is wrapped by errors of Save about a store that lacks objects, or has
// them in an older state than the server.
var ErrIncomplete = errors.New("the store is not complete, and so is not saved")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}
