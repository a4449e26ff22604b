package clientcmd

import (
	"os"
	"path/filepath"
	"runtime"
)

// migrationRules returns where the config was in old times: in another file of the folder, and on Windows in the folder of HOME.
func migrationRules() map[string]string {
	old := ".kubeconfig"
	if runtime.GOOS == "windows" {
		old = RecommendedFileName
	}
	return map[string]string{RecommendedHomeFile: filepath.Join(os.Getenv("HOME"), RecommendedHomeDir, old)}
}
