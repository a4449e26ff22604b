package informer

import (
	"time"

	"github.com/kinform/kinform/reflector"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// failureRow is the failures of a part in a row.
type failureRow struct {
	reflector.Row
	next time.Time // when it is worth while to try again
}

// failed counts one more, and says when to try again.
func (r *failureRow) failed(err error, backoff reflector.Backoff) {
	r.next = time.Now().Add(r.Failed(err, backoff))
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// isTooLarge says that the server has not yet seen the version it was asked for.
func isTooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// isRefused says that a server does not accept a watch as it is: it may be its version,
// or that the resource can be listed and not be watched.
func isRefused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsInvalid(err) || apierrors.IsInternalError(err) || apierrors.IsTimeout(err) || isTooLarge(err)
}
