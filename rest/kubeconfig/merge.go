package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// merged is what all files say together. Every entry remembers its file, for
// relative paths and for errors.
type merged struct {
	files          []string // that were read, first wins
	currentContext string
	clusters       map[string]entry[cluster]
	contexts       map[string]entry[contextContent]
	users          map[string]entry[user]
}

// entry is one cluster, context or user, and where it was found.
type entry[T any] struct {
	kind    string // "cluster", "context", "user"
	name    string
	file    string // absolute
	content T
}

// candidates returns the files to look at, best first, and whether they may be
// missing.
func candidates(path string) (files []string, mayMiss bool) {
	if path != "" {
		return []string{path}, false
	}
	if list := os.Getenv("KUBECONFIG"); list != "" {
		return slices.DeleteFunc(filepath.SplitList(list), func(f string) bool { return f == "" }), true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, true // a process without a home has no file there
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

// readAll reads and merges files. All that is wrong with them is reported at
// once.
func readAll(files []string, mayMiss bool) (*merged, error) {
	m := newMerged()
	var errs []error
	for _, file := range files {
		data, err := os.ReadFile(file)
		switch {
		case mayMiss && errors.Is(err, fs.ErrNotExist):
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

// add merges one more file in; what is there already stays.
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

// reason is an error of the os package without the operation and path, which the
// caller says better.
func reason(err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
