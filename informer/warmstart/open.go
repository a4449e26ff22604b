package warmstart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kinform/kinform/internal/regular"
)

// openSafely opens a file that only this user and root can have written. It does not block if a
// pipe is in the place of the file.
func openSafely(path string) (*os.File, fs.FileInfo, error) {
	file, info, err := regular.Open(path, regular.Refuse)
	switch {
	case errors.Is(err, regular.ErrNotRegular), errors.Is(err, regular.ErrLink):
		return nil, nil, fmt.Errorf("%w: %w", ErrUnsafe, err)
	case err != nil:
		return nil, nil, err
	}
	if err := ofThisUser(info); err != nil {
		_ = file.Close() // Nothing was read.
		return nil, nil, err
	}
	return file, info, nil
}
