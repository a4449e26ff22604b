package testing

import (
	"os"
	"testing"
)

// MkTmpdir makes a temporary directory. The caller must remove it.
func MkTmpdir(prefix string) (string, error) { return os.MkdirTemp("", prefix) }

// MkTmpdirOrDie is MkTmpdir. It panics on an error.
func MkTmpdirOrDie(prefix string) string {
	dir, err := MkTmpdir(prefix)
	if err != nil {
		panic(err)
	}
	return dir
}

// CloseAndRemove closes and removes files. A failure fails the test.
func CloseAndRemove(t *testing.T, files ...*os.File) {
	t.Helper()
	for _, f := range files {
		if err := f.Close(); err != nil {
			t.Fatalf("%s could not be closed: %v", f.Name(), err)
		}
		if err := os.Remove(f.Name()); err != nil {
			t.Fatalf("%s could not be removed: %v", f.Name(), err)
		}
	}
}
