// Package homedir tells where a user's files are.
package homedir

import (
	"os"
	"path/filepath"
	"runtime"
)

// HomeDir returns the home directory of the user, by the environment: HOME. On Windows, it is of HOME,
// HOMEDRIVE with HOMEPATH, and USERPROFILE the first with a file .kube\config in it; or else of HOME, USERPROFILE, and
// HOMEDRIVE with HOMEPATH the first that can be written to, that exists, or that is set.
func HomeDir() string {
	if runtime.GOOS != "windows" {
		return os.Getenv("HOME")
	}
	home, profile, drive := os.Getenv("HOME"), os.Getenv("USERPROFILE"), ""
	if path := os.Getenv("HOMEPATH"); path != "" {
		drive = os.Getenv("HOMEDRIVE") + path
	}
	return pick([]string{home, drive, profile}, []string{home, profile, drive})
}

// pick returns the directory for a Windows user: of byConfig the first with a configuration, or else one of byUse.
func pick(byConfig, byUse []string) string {
	if dir := first(byConfig, hasConfig); dir != "" {
		return dir
	}
	for _, good := range []func(string) bool{writable, exists, func(string) bool { return true }} {
		if dir := first(byUse, good); dir != "" {
			return dir
		}
	}
	return ""
}

func first(dirs []string, good func(string) bool) string {
	for _, dir := range dirs {
		if dir != "" && good(dir) {
			return dir
		}
	}
	return ""
}

func hasConfig(dir string) bool { return exists(filepath.Join(dir, ".kube", "config")) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func writable(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.Mode().Perm()&0o200 != 0
}
