//go:build !unix

package safefile

import (
	"fmt"
	"io/fs"
	"os"
)

func open(path string, links Links) (*os.File, error) {
	stat := os.Lstat
	if links == Follow {
		stat = os.Stat
	}
	info, err := stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: %w", path, ErrLink)
	case !info.Mode().IsRegular():
		return nil, notRegular(path, info)
	}
	return os.Open(path)
}
