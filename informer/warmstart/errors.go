package warmstart

import (
	"errors"
	"fmt"
)

// ErrDamaged is wrapped by errors about a file that is cut off, was changed, or is
// none of this package's.
var ErrDamaged = errors.New("the file is damaged")

// ErrOther is wrapped by errors about a file that is whole and holds something
// else: another resource, type, namespace, selector or projection.
var ErrOther = errors.New("the file holds something else")

// ErrNewerFormat is wrapped by errors about a file of a later release.
var ErrNewerFormat = errors.New("the format of the file is newer than this program")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}
