package warmstart

import (
	"fmt"
	"io/fs"
	"os"
)

// openSafely opens a file that nobody but this user, and root, can have written since
// it was made. It never waits, as opening a pipe would.
func openSafely(path string) (*os.File, fs.FileInfo, error) {
	file, err := openNow(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = trusted(info)
	}
	if err != nil {
		_ = file.Close() // Nothing was read.
		return nil, nil, err
	}
	return file, info, nil
}

// trusted returns an error that says why a file is not to be read.
func trusted(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no regular file, its mode is %v", ErrUnsafe, info.Mode())
	}
	return ofThisUser(info)
}
