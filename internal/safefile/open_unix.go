//go:build unix

package safefile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// open opens a file. If the file is a pipe, open does not wait for a writer.
func open(path string, links Links) (*os.File, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY
	if links == Refuse {
		flags |= syscall.O_NOFOLLOW
	}
	file, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) { // FreeBSD returns EMLINK
		return nil, fmt.Errorf("%w: %w", ErrLink, err)
	}
	return file, err
}
