package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// merged has the entries of all files. Every entry has the name of its file, for relative paths and
// for errors.
type merged struct {
	files          []string // the files that were read; earlier files win
	currentContext string
	clusters       map[string]entry[cluster]
	contexts       map[string]entry[contextContent]
	users          map[string]entry[user]
}

// entry is one cluster, context or user, with its name and file.
type entry[T any] struct {
	kind    string // "cluster", "context", "user"
	name    string
	file    string // absolute
	content T
}

// candidates returns the files to read, in order of precedence. optional says that the files may be
// missing.
func candidates(path string) (files []string, optional bool) {
	if path != "" {
		return []string{path}, false
	}
	if list := os.Getenv("KUBECONFIG"); list != "" {
		return slices.DeleteFunc(filepath.SplitList(list), func(f string) bool { return f == "" }), true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, true // without a home directory, there is no .kube/config
	}
	return []string{filepath.Join(home, ".kube", "config")}, true
}

func newMerged() *merged {
	return &merged{
		clusters: make(map[string]entry[cluster]),
		contexts: make(map[string]entry[contextContent]),
		users:    make(map[string]entry[user]),
	}
}

// readAll reads and merges files. Its error joins the errors of all files.
func readAll(files []string, optional bool) (*merged, error) {
	m := newMerged()
	var errs []error
	for _, file := range files {
		data, err := os.ReadFile(file)
		switch {
		case optional && errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			errs = append(errs, fmt.Errorf("kubeconfig %q cannot be read: %w: check the path and its permissions", file, reason(err)))
			continue
		}
		doc, err := parse(data)
		if err != nil {
			errs = append(errs, fmt.Errorf("kubeconfig %q: %w", file, err))
			continue
		}
		if file, err = filepath.Abs(file); err != nil {
			errs = append(errs, err)
			continue
		}
		m.add(file, doc)
	}
	return m, errors.Join(errs...)
}

// add merges the entries of one more file. It does not replace existing entries.
func (m *merged) add(file string, doc document) {
	m.files = append(m.files, file)
	if m.currentContext == "" {
		m.currentContext = doc.CurrentContext
	}
	for _, e := range doc.Clusters {
		addEntry(m.clusters, entry[cluster]{"cluster", e.Name, file, e.Cluster})
	}
	for _, e := range doc.Contexts {
		addEntry(m.contexts, entry[contextContent]{"context", e.Name, file, e.Context})
	}
	for _, e := range doc.Users {
		addEntry(m.users, entry[user]{"user", e.Name, file, e.User})
	}
}

func addEntry[T any](to map[string]entry[T], e entry[T]) {
	if _, ok := to[e.name]; !ok {
		to[e.name] = e
	}
}

// reason returns an error of package os without its operation and path, because the caller names
// both.
func reason(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
