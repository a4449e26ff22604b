package clientcmd

import (
	"os"
	"path/filepath"
	"runtime"
)

// migrationRules returns where the config was in old times: on Windows alone it has moved.
func migrationRules() map[string]string {
	if runtime.GOOS != "windows" {
		return map[string]string{}
	}
	return map[string]string{RecommendedHomeFile: filepath.Join(os.Getenv("HOME"), RecommendedHomeDir, ".kubeconfig")}
}
