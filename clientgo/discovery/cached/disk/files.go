package disk

import (
	"errors"
	"os"
	"path/filepath"
)

// The modes of files and directories. The user and the user's group can read the cache.
const (
	directoryMode = 0o750
	fileMode      = 0o660
)

// maxFile limits how much is read from a file. An OpenAPI document has about ten megabytes.
const maxFile = 64 << 20

// writeFile replaces a file atomically: another program reads either the old content or the new
// content.
func writeFile(name string, parts ...[]byte) (err error) {
	directory := filepath.Dir(name)
	if err := os.MkdirAll(directory, directoryMode); err != nil {
		return err
	}
	f, err := os.CreateTemp(directory, filepath.Base(name)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	for _, part := range parts {
		if err == nil {
			_, err = f.Write(part)
		}
	}
	if err == nil {
		err = f.Chmod(fileMode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
