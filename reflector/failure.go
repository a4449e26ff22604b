package reflector

import (
	"errors"
	"io"
	"net"
	"slices"
	"strings"
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
// IsTooLarge, RefusesVersion, IsRefused and StatusCode, it is for code beside a Reflector that retries
// as a Reflector does, such as the parts of a source. All of them are false, or 0, for nil.
func IsExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// IsTooLarge says that the server has not yet seen the version it was asked for.
func IsTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	if !apierrors.IsTimeout(err) {
		return false
	}
	// API servers before 1.18.6 have the message alone, and those of 1.17 and 1.18 put it into a cause.
	const message = "Too large resource version"
	status := statusOf(err)
	return strings.Contains(status.Message, message) || status.Details != nil && slices.ContainsFunc(
		status.Details.Causes, func(c metav1.StatusCause) bool { return c.Message == message })
}

// RefusesVersion says that the server may answer the same list without a version: it
// does not have this version, or takes it for none, or does not know how to match it.
func RefusesVersion(err error) bool {
	return IsExpired(err) || IsTooLarge(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

// isUnsupported says that the server does not support the request.
func isUnsupported(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}

// IsRefused says that the server refuses a watch, or fails because of it. The version may be
// the reason, or the client can list the resource but not watch it. A 504 counts as well: a
// gateway answers so if it waits for the end of a watch.
func IsRefused(err error) bool {
	return isUnsupported(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || IsTooLarge(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err)
}

// StatusCode returns the code in the API server's status of a failure, 0 if the server
// sent none.
func StatusCode(err error) int { return int(statusOf(err).Code) }

// isPermanent says that the server understood the request, and that its answer stays the
// same until somebody changes objects or permissions.
func isPermanent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || isOversized(err)
}

// isOversized says that a list had more bytes than it may have. No failure costs more.
func isOversized(err error) bool { return errors.Is(err, listwatch.ErrListTooLarge) }

// isUnreached says that no connection could be made, so that no server has answered.
func isUnreached(err error) bool {
	failed, ok := errors.AsType[*net.OpError](err)
	return ok && (failed.Op == "dial" || failed.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// isOutage says that a failure is not about the request, that it ends by something that
// happens elsewhere, and that it costs a server next to nothing.
func isOutage(err error) bool {
	return isUnreached(err) || apierrors.IsUnauthorized(err)
}

// isLost says that an open connection broke.
func isLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// isBusy says that the server cannot be reached, or is busy: it has said nothing about the
// request itself.
func isBusy(err error) bool {
	return isUnreached(err) || apierrors.IsTooManyRequests(err)
}

// isUnreachable says that no API server has answered, although perhaps a proxy has.
func isUnreachable(err error) bool {
	code := statusOf(err).Code
	return code == 0 || code > 500
}

// delayAsked returns the wait that the server asks for, or 0 if it asks for none.
func delayAsked(err error) time.Duration {
	if details := statusOf(err).Details; details != nil {
		return time.Duration(details.RetryAfterSeconds) * time.Second
	}
	return 0
}
