package clientcmd

import (
	"os"
	"path/filepath"
	"runtime"
)

// migrationRules returns the old locations of the config: another file in the same folder, and on
// Windows the folder of HOME.
func migrationRules() map[string]string {
	old := ".kubeconfig"
	if runtime.GOOS == "windows" {
		old = RecommendedFileName
	}
	return map[string]string{RecommendedHomeFile: filepath.Join(os.Getenv("HOME"), RecommendedHomeDir, old)}
}
