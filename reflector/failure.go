package reflector

import (
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
)

// The predicates of apimachinery's api/errors would do here. They are not used,
// because they stand on errors.As, which takes a program along that compares types by
// reflection: 29 kB of the 600 that kinform adds to one.

// statusOf returns what the API server said of a failure, and nothing where it said
// nothing.
func statusOf(err error) *metav1.Status {
	said, ok := errors.AsType[interface {
		error
		Status() metav1.Status
	}](err)
	if !ok {
		return new(metav1.Status)
	}
	status := said.Status()
	return &status
}

// says reports whether the API server gave one of the reasons or, with a reason that
// Kubernetes does not have, the code that belongs to them: a proxy or an aggregated
// server may have reasons of its own.
func says(err error, code int32, reasons ...metav1.StatusReason) bool {
	status := statusOf(err)
	return slices.Contains(reasons, status.Reason) || status.Code == code && !slices.Contains(knownReasons, status.Reason)
}

// knownReasons are those that Kubernetes has. apimachinery has this list as well, and
// does not export it.
var knownReasons = []metav1.StatusReason{
	metav1.StatusReasonUnauthorized, metav1.StatusReasonForbidden, metav1.StatusReasonNotFound,
	metav1.StatusReasonAlreadyExists, metav1.StatusReasonConflict, metav1.StatusReasonGone,
	metav1.StatusReasonInvalid, metav1.StatusReasonServerTimeout, metav1.StatusReasonStoreReadError,
	metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests, metav1.StatusReasonBadRequest,
	metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable, metav1.StatusReasonRequestEntityTooLarge,
	metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonInternalError, metav1.StatusReasonExpired,
	metav1.StatusReasonServiceUnavailable,
}

// IsExpired says that the server no longer has the version that it was asked for. Like
// its siblings, it is for who repeats in the same way what a Reflector does not, as
// parts of a source that is put together. All of them are false for nil.
func IsExpired(err error) bool {
	return says(err, 410, metav1.StatusReasonExpired, metav1.StatusReasonGone)
}

// isTooLarge says that the server has not yet seen the version it was asked for.
func isTooLarge(err error) bool {
	details := statusOf(err).Details
	return details != nil && slices.ContainsFunc(details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeResourceVersionTooLarge
	})
}

// isBadRequest says that the server does not understand what it was asked for.
func isBadRequest(err error) bool {
	return says(err, 400, metav1.StatusReasonBadRequest)
}

// isInvalid says that the server understands what it was asked for, and finds something
// wrong with it.
func isInvalid(err error) bool {
	return says(err, 422, metav1.StatusReasonInvalid)
}

// isForbidden says that the server knows who asks, and does not allow it.
func isForbidden(err error) bool {
	return says(err, 403, metav1.StatusReasonForbidden)
}

// RefusesVersion says that a list may be had where it is not asked for at a version:
// the server does not have this one, or takes it for none, or does not know how it is to
// be matched.
func RefusesVersion(err error) bool {
	return IsExpired(err) || isTooLarge(err) || isBadRequest(err) || isInvalid(err)
}

// isUnsupported says that the server does not know how to do what it was asked for.
func isUnsupported(err error) bool {
	return isBadRequest(err) || isInvalid(err) ||
		says(err, 405, metav1.StatusReasonMethodNotAllowed)
}

// IsRefused says that the server does not accept a watch as it is, or fails over
// it: the version in it may be the reason, or that the resource can be listed and
// not be watched. A gateway says so (504) that waits for a watch to end.
func IsRefused(err error) bool {
	return isUnsupported(err) || isForbidden(err) || isTooLarge(err) ||
		says(err, 500, metav1.StatusReasonInternalError) || says(err, 504, metav1.StatusReasonTimeout)
}

// StatusCode returns the code of what the API server said of a failure, 0 where it said
// nothing.
func StatusCode(err error) int { return int(statusOf(err).Code) }

// isPermanent says that the server knows what it was asked for, and that the
// answer will be the same until somebody changes what the server has or allows.
func isPermanent(err error) bool {
	return says(err, 404, metav1.StatusReasonNotFound) || isForbidden(err) || isOversized(err)
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

// isOutage says that a failure is not about the request, ends by what happens
// elsewhere, and costs a server nothing or next to nothing.
func isOutage(err error) bool {
	return isUnreached(err) || says(err, 401, metav1.StatusReasonUnauthorized)
}

// isLost says that a connection broke on which there was a server.
func isLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// isBusy says that the server cannot be reached, or not now: it has said nothing
// about the request itself.
func isBusy(err error) bool {
	status := statusOf(err)
	return isUnreached(err) || status.Code == 429 || status.Reason == metav1.StatusReasonTooManyRequests
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
