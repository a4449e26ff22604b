//go:build unix

package warmstart

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNow opens a file for reading, unless it is a symbolic link. A pipe is opened
// without waiting for who writes to it.
func openNow(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW|syscall.O_NOCTTY, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) { // The latter is FreeBSD's.
		return nil, fmt.Errorf("%w: it is a symbolic link, or behind too many: %w", ErrUnsafe, err)
	}
	return file, err
}

func ofThisUser(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return ownedBy(os.Geteuid(), int(stat.Uid), info.Mode().Perm())
}

// ownedBy returns an error if a file of this owner and mode could have been written by
// others than user and root.
func ownedBy(user, owner int, mode fs.FileMode) error {
	switch {
	case owner != user && owner != 0:
		return fmt.Errorf("%w: it belongs to user %d, neither to this one, %d, nor to root", ErrUnsafe, owner, user)
	case mode&0o022 != 0:
		return fmt.Errorf("%w: its group or others may write to it (mode %#o): chmod go-w", ErrUnsafe, mode)
	}
	return nil
}

// private returns an error if others may read a file of this mode.
func private(mode fs.FileMode) error {
	if mode.Perm()&0o077 != 0 {
		return fmt.Errorf("%w: it may have Secrets in it, and its group or others may read it (mode %#o): chmod go=", ErrUnsafe, mode.Perm())
	}
	return nil
}
