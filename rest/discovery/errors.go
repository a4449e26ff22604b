package discovery

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest"
)

// ErrStale is the reason of a [Failure] where the server could not reach the
// extension server (the APIService) behind a group version and has only old
// knowledge of it, or none.
var ErrStale = errors.New("the server cannot reach the extension server behind it; kubectl get apiservices shows why")

// Error says what could not be discovered. The other resources were.
//
// It unwraps to all reasons, so that the predicates of
// k8s.io/apimachinery/pkg/api/errors see them.
type Error struct {
	Failures []Failure // at least one
}

// Failure is one part of the API that could not be read.
type Failure struct {
	// GroupVersion is what could not be read. It is empty where not even the
	// groups are known, or one has a name that cannot be one.
	GroupVersion schema.GroupVersion

	// Path is where it was looked for, such as "/apis/metrics.k8s.io/v1beta1".
	Path string

	Err error
}

// Bounds for what an error says: the reasons, and the paths for each.
const (
	maxReasons = 8
	maxPaths   = 12
)

// Error lists what failed and why, of very much the first. What several parts failed for
// is said once, with the request of the first.
func (e *Error) Error() string {
	var parts []*reasoned
	known := map[string]*reasoned{}
	for _, f := range e.Failures {
		why := reason(f.Err)
		part := known[why]
		if part == nil {
			part = &reasoned{why: f.Err.Error()}
			known[why], parts = part, append(parts, part)
		}
		if part.count++; part.count <= maxPaths {
			part.paths = append(part.paths, f.Path)
		}
	}
	var texts []string
	for _, part := range parts[:min(len(parts), maxReasons)] {
		paths := strings.Join(part.paths, ", ")
		if more := part.count - maxPaths; more > 0 {
			paths += fmt.Sprintf(" and %d more", more)
		}
		texts = append(texts, paths+": "+part.why)
	}
	if more := len(parts) - maxReasons; more > 0 {
		texts = append(texts, fmt.Sprintf("and for %d more reasons", more))
	}
	return "API discovery is incomplete: " + strings.Join(texts, "; ")
}

// reasoned is what failed for one reason.
type reasoned struct {
	why   string
	paths []string // the first
	count int
}

// reason is what an error says apart from the request that it belongs to.
func reason(err error) string {
	if request, ok := err.(*rest.Error); ok {
		err = request.Err
	}
	return err.Error()
}

// Unwrap returns the reasons.
func (e *Error) Unwrap() []error {
	reasons := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		reasons[i] = f.Err
	}
	return reasons
}

// NotFoundError is what [Find] answers when no resource has the name.
type NotFoundError struct {
	Name string

	// Similar are names that were perhaps meant, the likeliest first, at most
	// three.
	Similar []string
}

// Error names what was asked for and what was perhaps meant.
func (e *NotFoundError) Error() string {
	hint := "kubectl api-resources lists what there is"
	if len(e.Similar) > 0 {
		hint = "did you mean " + strings.Join(e.Similar, " or ") + "?"
	}
	return fmt.Sprintf("the server has no resource %q: %s", e.Name, hint)
}
