package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// writeKubeconfig writes a kubeconfig for a server, and returns what removes it
// again unless it has become that of another server.
//
// A file that is there already is replaced only if an earlier run left it: it
// could be the only key to somebody's clusters.
func writeKubeconfig(path, url string) (remove func(), err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("--kubeconfig-out: %w", err)
	case !info.Mode().IsRegular() || !leftover(path):
		return nil, fmt.Errorf("--kubeconfig-out: %s exists and is not from this command: remove it, or name another file", path)
	}
	err = kubeconfig.Write(path, connection(url))
	return func() {
		if urlIn(path) == url {
			_ = os.Remove(path)
		}
	}, err
}

// leftover says that a file is, to the letter, what this command writes.
func leftover(path string) bool {
	data, err := os.ReadFile(path)
	ours, _ := kubeconfig.Marshal(connection(urlIn(path)))
	return err == nil && bytes.Equal(data, ours)
}

// urlIn is the server that a kubeconfig leads to, "" if there is none.
func urlIn(path string) string {
	c, _ := kubeconfig.Load(kubeconfig.Options{Path: path})
	return c.Config.Host
}

func connection(url string) kubeconfig.Connection {
	return kubeconfig.Connection{Config: rest.Config{Host: url}, Context: "kinform"}
}
