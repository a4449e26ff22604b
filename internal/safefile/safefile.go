package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is wrapped by errors about a pipe, a directory, a device or a socket.
var ErrNotRegular = errors.New("not a regular file")

// ErrLink is wrapped by errors about a symbolic link that Open does not follow, or about a loop of
// links.
var ErrLink = errors.New("the path is a symbolic link, or has too many symbolic links")

// Links says whether Open follows a symbolic link at the end of a path.
type Links bool

// These are the two ways to treat a symbolic link at the end of a path. The directories of the path
// may always be links.
const (
	Follow Links = true
	Refuse Links = false
)

// Open opens a regular file for reading, and returns its information.
func Open(path string, links Links) (*os.File, fs.FileInfo, error) {
	file, err := open(path, links)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err != nil {
		_ = file.Close() // nothing was read
		return nil, nil, err
	}
	return file, info, nil
}

// Read returns the content of a regular file. A file of more than limit bytes is an error.
func Read(path string, limit int64) ([]byte, error) {
	file, info, err := Open(path, Follow)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	// the file may grow, and some files report no size
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, err
}

func notRegular(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s is %w (mode %v)", path, ErrNotRegular, info.Mode())
}
