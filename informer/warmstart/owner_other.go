//go:build !unix

package warmstart

import "io/fs"

// Owner and mode say nothing here: who may write is a matter of the directory.
func ofThisUser(fs.FileInfo) error { return nil }

func private(fs.FileMode) error { return nil }
