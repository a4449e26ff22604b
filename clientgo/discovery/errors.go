package discovery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrGroupDiscoveryFailed says which group versions could not be read. The others could.
type ErrGroupDiscoveryFailed struct {
	// Groups has the reason of each group version that failed.
	Groups map[schema.GroupVersion]error
}

// Error lists group versions, in order, with their reasons.
func (e *ErrGroupDiscoveryFailed) Error() string {
	failed := make([]string, 0, len(e.Groups))
	for gv, err := range e.Groups {
		failed = append(failed, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(failed)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(failed, ", ")
}

// Is returns whether target has the same type, so that errors.Is finds any error of the type.
func (e *ErrGroupDiscoveryFailed) Is(target error) bool {
	_, ok := target.(*ErrGroupDiscoveryFailed) //nolint:errorlint // errors.Is unwraps
	return ok
}

// IsGroupDiscoveryFailedError returns whether err itself, not an error that it wraps, is an *ErrGroupDiscoveryFailed.
func IsGroupDiscoveryFailedError(err error) bool {
	_, ok := err.(*ErrGroupDiscoveryFailed) //nolint:errorlint // as client-go: programs tell a wrapped one apart
	return ok
}

// GroupDiscoveryFailedErrorGroups returns the failures of an *ErrGroupDiscoveryFailed, also of one that err wraps.
func GroupDiscoveryFailedErrorGroups(err error) (map[schema.GroupVersion]error, bool) {
	if failed, ok := errors.AsType[*ErrGroupDiscoveryFailed](err); ok {
		return failed.Groups, true
	}
	return nil, false
}

// StaleGroupVersionError is the reason of a group version whose extension API server the server could not reach.
type StaleGroupVersionError struct {
	gv schema.GroupVersion
}

// Error implements error.
func (s StaleGroupVersionError) Error() string {
	return fmt.Sprintf("stale GroupVersion discovery: %v", s.gv)
}
