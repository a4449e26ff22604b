package main

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/types"
)

// zone stands for a system outside of the cluster, such as a DNS provider: a directory with a file
// for each record. Both methods can be repeated at any time, with the same result. A record has the
// key of its Website as its name, so it is found even after a change of the host.
type zone string

func (z zone) set(key types.NamespacedName, host string) error {
	draft := z.file(key) + ".new"
	if err := os.WriteFile(draft, []byte(host), 0o644); err != nil {
		return err
	}
	return os.Rename(draft, z.file(key)) // so that nobody sees an incomplete file
}

func (z zone) remove(key types.NamespacedName) error {
	if err := os.Remove(z.file(key)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (z zone) file(key types.NamespacedName) string {
	return filepath.Join(string(z), url.PathEscape(key.Namespace)+"_"+url.PathEscape(key.Name))
}
