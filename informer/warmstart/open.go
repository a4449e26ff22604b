package warmstart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kinform/kinform/internal/safefile"
)

// openSafely opens a file that only this user and root can have written. It does not block if a
// pipe is in the place of the file.
func openSafely(path string) (*os.File, fs.FileInfo, error) {
	file, info, err := safefile.Open(path, safefile.Refuse)
	switch {
	case errors.Is(err, safefile.ErrNotRegular), errors.Is(err, safefile.ErrLink):
		return nil, nil, fmt.Errorf("%w: %w", ErrUnsafe, err)
	case err != nil:
		return nil, nil, err
	}
	if err := checkOwner(info); err != nil {
		_ = file.Close() // Nothing was read.
		return nil, nil, err
	}
	return file, info, nil
}
