// Package homedir finds the user's home directory.
package homedir

import (
	"os"
	"path/filepath"
	"runtime"
)

// HomeDir returns the home directory of the user: the environment variable HOME.
//
// On Windows, it returns the first of HOME, HOMEDRIVE with HOMEPATH, and USERPROFILE that has a
// file .kube\config. If no directory has this file, the order is HOME, USERPROFILE, and HOMEDRIVE
// with HOMEPATH. Then it returns the first directory that is writable, or else the first that
// exists, or else the first that is set.
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

// pick returns the home directory of a Windows user: the first of byConfig that has a kubeconfig,
// or else a directory of byUse.
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
