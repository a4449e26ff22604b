package managedfields

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
)

// conflictError returns the error of an apply that would take over fields of other managers. Its
// code is 409, and it has a cause for each field. For a scale, the error names the version
// autoscaling/v1, even if the scaled resource has another version.
func conflictError(conflicts merge.Conflicts, op Operation) error {
	slices.SortStableFunc(conflicts, func(a, b merge.Conflict) int {
		// The order of conflicts is random.
		return strings.Compare(a.Manager, b.Manager)
	})
	fields := map[string][]string{} // fields by owner
	var causes []metav1.StatusCause
	for _, c := range conflicts {
		owner := managerText(c.Manager, op.Subresource == "scale")
		fields[owner] = append(fields[owner], c.Path.String())
		causes = append(causes, metav1.StatusCause{Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with " + owner, Field: c.Path.String()})
	}
	if len(conflicts) == 1 {
		return apierrors.NewApplyConflict(causes, fmt.Sprintf("Apply failed with 1 conflict: %s: %s", causes[0].Message, causes[0].Field))
	}
	owners := make([]string, 0, len(fields))
	for owner := range fields {
		owners = append(owners, owner)
	}
	slices.Sort(owners)
	var text strings.Builder
	fmt.Fprintf(&text, "Apply failed with %d conflicts:", len(conflicts))
	for n, owner := range owners {
		if n > 0 {
			text.WriteString("\n")
		} else {
			text.WriteString(" ")
		}
		fmt.Fprintf(&text, "conflicts with %s:", owner)
		for _, path := range fields[owner] {
			text.WriteString("\n- " + path)
		}
	}
	return apierrors.NewApplyConflict(causes, text.String())
}

// managerText returns the text of a manager in a conflict message.
func managerText(id string, scale bool) string {
	e := entryOf(id)
	if scale {
		e.APIVersion = "autoscaling/v1"
	}
	text := fmt.Sprintf("%q", e.Manager)
	if e.Subresource != "" {
		text += fmt.Sprintf(" with subresource %q", e.Subresource)
	}
	if e.Operation == metav1.ManagedFieldsOperationUpdate {
		text += " using " + e.APIVersion
	}
	return text
}
