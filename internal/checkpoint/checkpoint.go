// Package checkpoint identifies a history by its last event. A server that was restored from a
// backup continues from an older state, and later reaches its earlier versions again, with other
// changes. The versions alone do not show this. But a watch that starts just before the last known
// event shows it: if the watch does not begin with that event, the server has another history.
package checkpoint

import (
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Checkpoint identifies an event by the key of its object and its version. The zero value means no
// event.
type Checkpoint struct {
	Key     types.NamespacedName
	Version string
}

// Before returns the version from which a watch begins with the event, or "" if there is no such
// version.
func (m Checkpoint) Before() string {
	n, err := strconv.ParseUint(m.Version, 10, 64)
	if err != nil || n < 2 {
		return ""
	}
	return strconv.FormatUint(n-1, 10)
}

// Resumes reports whether a watch from this version delivers all later changes. A watch without a
// version, or from "0", begins with the existing objects, and does not show which objects were
// deleted.
func Resumes(version string) bool { return version != "" && version != "0" }

// Newer reports whether version a is newer than b. It returns false if the versions cannot be
// compared.
func Newer(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order > 0
}
