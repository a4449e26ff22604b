package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrGroupDiscoveryFailed lists the group versions that could not be read. All other group versions
// were read.
type ErrGroupDiscoveryFailed struct {
	// Groups has the error of each group version that failed.
	Groups map[schema.GroupVersion]error
}

// Error lists the failed group versions in order, with their errors.
func (e *ErrGroupDiscoveryFailed) Error() string {
	failed := make([]string, 0, len(e.Groups))
	for gv, err := range e.Groups {
		failed = append(failed, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(failed)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(failed, ", ")
}

// Is reports whether target has this type, so that errors.Is finds any error of the type.
func (e *ErrGroupDiscoveryFailed) Is(target error) bool {
	_, ok := target.(*ErrGroupDiscoveryFailed) //nolint:errorlint // errors.Is unwraps
	return ok
}

// IsGroupDiscoveryFailedError reports whether err itself is an *ErrGroupDiscoveryFailed. It does
// not unwrap err.
func IsGroupDiscoveryFailedError(err error) bool {
	_, ok := err.(*ErrGroupDiscoveryFailed) //nolint:errorlint // as client-go: the error itself
	return ok
}

// GroupDiscoveryFailedErrorGroups returns the failures of an *ErrGroupDiscoveryFailed. It unwraps
// err.
func GroupDiscoveryFailedErrorGroups(err error) (map[schema.GroupVersion]error, bool) {
	if failed, ok := errors.AsType[*ErrGroupDiscoveryFailed](err); ok {
		return failed.Groups, true
	}
	return nil, false
}

// StaleGroupVersionError is the error of a group version whose extension API server the main API
// server could not reach.
type StaleGroupVersionError struct {
	gv schema.GroupVersion
}

// Error implements error.
func (s StaleGroupVersionError) Error() string {
	return fmt.Sprintf("stale GroupVersion discovery: %v", s.gv)
}
