package kubeconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// String names the entry in an error: its kind, its name and its file.
func (e entry[T]) String() string {
	return fmt.Sprintf("%s %q in kubeconfig %q", e.kind, e.name, e.file)
}

// errorf returns an error about the entry.
func (e entry[T]) errorf(format string, args ...any) error {
	return fmt.Errorf("%v: %w", e, fmt.Errorf(format, args...))
}

// noContext returns the error for a missing context. It lists the existing contexts.
func (m *merged) noContext(name string, searched []string) error {
	if len(m.contexts) == 0 {
		return fmt.Errorf("there is no context %q: %s", name, m.nothingSelected(searched))
	}
	return fmt.Errorf("there is no context %q in kubeconfig %s: choose one of %s",
		name, quoted(m.files), names(m.contexts))
}

// nothingSelected says why the files have no current context, and what to do.
func (m *merged) nothingSelected(searched []string) string {
	switch {
	case len(searched) == 0:
		return "no path of a kubeconfig is known: give a path, or set KUBECONFIG"
	case len(m.files) == 0:
		return fmt.Sprintf("there is no kubeconfig at %s: give a path, or set KUBECONFIG", quoted(searched))
	case len(m.contexts) == 0:
		return fmt.Sprintf("kubeconfig %s has no contexts: add one, or give another path", quoted(m.files))
	default:
		return fmt.Sprintf("kubeconfig %s has no current-context: choose one of %s", quoted(m.files), names(m.contexts))
	}
}

// names lists the names of entries, in alphabetical order. If there are more than twelve names, it
// lists the first twelve, and the number of further names.
func names[T any](entries map[string]entry[T]) string {
	const most = 12
	sorted := slices.Sorted(maps.Keys(entries))
	if more := len(sorted) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", quoted(sorted[:most]), more)
	}
	return quoted(sorted)
}

func quoted(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(q, ", ")
}
