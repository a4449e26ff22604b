package discovery

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest"
)

// ErrStale is the reason of a [Failure] if the server could not reach the extension API server (the
// APIService) behind a group version. Then the server's response about this version is outdated or
// missing.
var ErrStale = errors.New("the server cannot reach the extension API server of this version: kubectl get apiservices shows why")

// Error lists the parts of the API whose discovery failed. The discovery of all other parts
// succeeded. Error unwraps to all reasons, so that the predicates of
// k8s.io/apimachinery/pkg/api/errors find them.
type Error struct {
	Failures []Failure // at least one
}

// Failure is the failed discovery of one part of the API.
type Failure struct {
	// GroupVersion is the failed part. It is empty if the request for the list of groups failed, or
	// if the part has an invalid name.
	GroupVersion schema.GroupVersion

	// Path is the path of the request, such as "/apis/metrics.k8s.io/v1beta1".
	Path string

	Err error
}

// These bounds limit the text of an error: the number of reasons, and the number of paths for each
// reason.
const (
	maxReasons = 8
	maxPaths   = 12
)

// Error lists the first reasons. For each reason it names the first paths that failed for it. The
// text of a reason names the request of its first path.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	var parts []*failureGroup
	known := map[string]*failureGroup{}
	for _, f := range e.Failures {
		text := reasonText(f.Err)
		part := known[text]
		if part == nil {
			part = &failureGroup{reason: f.Err.Error()}
			known[text], parts = part, append(parts, part)
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
		texts = append(texts, paths+": "+part.reason)
	}
	if more := len(parts) - maxReasons; more > 0 {
		texts = append(texts, fmt.Sprintf("and for %d more reasons", more))
	}
	return "API discovery is incomplete: " + strings.Join(texts, "; ")
}

// failureGroup has the parts that failed for the same reason.
type failureGroup struct {
	reason string
	paths  []string // the first paths
	count  int
}

// reasonText returns the text of an error without the request that the error is about.
func reasonText(err error) string {
	if request, ok := err.(*rest.Error); ok {
		err = request.Err
	}
	return err.Error()
}

// Unwrap returns the reasons.
func (e *Error) Unwrap() []error {
	if e == nil {
		return nil
	}
	reasons := make([]error, len(e.Failures))
	for i, f := range e.Failures {
		reasons[i] = f.Err
	}
	return reasons
}

// NotFoundError is the error of [Find] if no resource has the name.
type NotFoundError struct {
	Name string

	// Similar has at most three names that the caller may have meant, the most likely first.
	Similar []string
}

// Error names the missing name, and similar names.
func (e *NotFoundError) Error() string {
	if e == nil {
		return "<nil>"
	}
	hint := "kubectl api-resources lists all resources"
	if len(e.Similar) > 0 {
		hint = "did you mean " + strings.Join(e.Similar, " or ") + "?"
	}
	return fmt.Sprintf("the server has no resource %q: %s", e.Name, hint)
}
