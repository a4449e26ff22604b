//go:build unix

package warmstart

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func checkOwner(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return checkOwnedBy(os.Geteuid(), int(stat.Uid), info.Mode().Perm())
}

// checkOwnedBy returns an error if anyone except user and root could have written a file of this
// owner and mode.
func checkOwnedBy(user, owner int, mode fs.FileMode) error {
	switch {
	case owner != user && owner != 0:
		return fmt.Errorf("%w: the owner is user %d, neither this process's user %d nor root", ErrUnsafe, owner, user)
	case mode&0o022 != 0:
		return fmt.Errorf("%w: group or others may write to the file (mode %#o): run chmod go-w", ErrUnsafe, mode)
	}
	return nil
}

// checkPrivate returns an error if group or others may read a file of this mode.
func checkPrivate(mode fs.FileMode) error {
	if mode.Perm()&0o077 != 0 {
		return fmt.Errorf("%w: group or others may read the file, which may hold Secrets (mode %#o): run chmod go=", ErrUnsafe, mode.Perm())
	}
	return nil
}
