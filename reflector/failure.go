package reflector

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
)

// statusOf returns the API server's status of a failure, or the zero value if the
// server sent none.
func statusOf(err error) metav1.Status {
	var said apierrors.APIStatus
	if !errors.As(err, &said) {
		return metav1.Status{}
	}
	return said.Status()
}

// IsExpired says that the server no longer has the version that it was asked for. Like
// its siblings, it is for attempts beside a Reflector that are to be repeated as a
// Reflector repeats its own, such as those of a source's parts. All of them are false
// for nil.
func IsExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// isTooLarge says that the server has not yet seen the version it was asked for.
func isTooLarge(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// RefusesVersion says that the server may answer the same list without a version: it
// does not have this version, or takes it for none, or does not know how to match it.
func RefusesVersion(err error) bool {
	return IsExpired(err) || isTooLarge(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

// isUnsupported says that the server does not support the request.
func isUnsupported(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}

// IsRefused says that the server does not accept a watch as it is, or fails over
// it: the version in it may be the reason, or that the resource can be listed and
// not be watched. A gateway says so (504) that waits for a watch to end.
func IsRefused(err error) bool {
	return isUnsupported(err) || apierrors.IsForbidden(err) || isTooLarge(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err)
}

// StatusCode returns the code in the API server's status of a failure, 0 if the server
// sent none.
func StatusCode(err error) int { return int(statusOf(err).Code) }

// isPermanent says that the server understood the request, and that its answer will be
// the same until somebody changes its objects or permissions.
func isPermanent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || isOversized(err)
}

// isOversized says that a list has been given up, after as many bytes as it may have:
// the most costly of all failures.
func isOversized(err error) bool { return errors.Is(err, listwatch.ErrListTooLarge) }

// isUnreached says that no connection could be made, so that there was no server which
// could say anything.
func isUnreached(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && (failed.Op == "dial" || failed.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// isOutage says that a failure is not about the request, ends by something that happens
// elsewhere, and costs a server next to nothing.
func isOutage(err error) bool {
	return isUnreached(err) || apierrors.IsUnauthorized(err)
}

// isLost says that a connection broke on which there was a server.
func isLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// isBusy says that the server cannot be reached, or not now: it has said nothing
// about the request itself.
func isBusy(err error) bool {
	return isUnreached(err) || apierrors.IsTooManyRequests(err)
}

// isUnreachable says that no API server has answered, but a proxy perhaps.
func isUnreachable(err error) bool {
	code := statusOf(err).Code
	return code == 0 || code > 500
}

// delayAsked returns after how long the server wants to be asked again, 0 if it has not said so.
func delayAsked(err error) time.Duration {
	if details := statusOf(err).Details; details != nil {
		return time.Duration(details.RetryAfterSeconds) * time.Second
	}
	return 0
}
