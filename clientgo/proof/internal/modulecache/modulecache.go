// Package modulecache finds the folders of modules whose source a proof reads.
package modulecache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Dir returns the folder of the module at the version that the go.mod file in dir requires. It
// downloads a module that is not in the module cache yet, for which go list -m prints an empty
// folder.
func Dir(ctx context.Context, dir, module string) (string, error) {
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	download.Dir = dir
	download.Env = append(os.Environ(), "GOWORK=off")
	out, err := download.Output()
	var found struct{ Dir, Error string }
	switch {
	case len(out) > 0: // also if the download failed
		err = json.Unmarshal(out, &found)
	case err == nil:
		err = errors.New("a folder replaces it, which is not in the cache")
	}
	if found.Error != "" {
		err = errors.New(found.Error)
	}
	if err != nil {
		return "", fmt.Errorf("finding %s, which %s requires: %w", module, dir, err)
	}
	return found.Dir, nil
}
