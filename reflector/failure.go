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
	var apiStatus apierrors.APIStatus
	if !errors.As(err, &apiStatus) {
		return metav1.Status{}
	}
	return apiStatus.Status()
}

// IsExpired reports that the server no longer has the requested version. IsExpired, IsTooLarge,
// RefusesVersion, IsRefused and StatusCode are for code that retries like a Reflector, such as the
// parts of a source. For nil, they return false or 0.
func IsExpired(err error) bool {
	return apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
}

// IsTooLarge reports that the server has not seen the requested version yet.
func IsTooLarge(err error) bool {
	if apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) {
		return true
	}
	if !apierrors.IsTimeout(err) {
		return false
	}
	// API servers before 1.18.6 send only the message. Versions 1.17 and 1.18 put it into a cause.
	const message = "Too large resource version"
	status := statusOf(err)
	return strings.Contains(status.Message, message) || status.Details != nil && slices.ContainsFunc(
		status.Details.Causes, func(c metav1.StatusCause) bool { return c.Message == message })
}

// RefusesVersion reports that the same list without a version may succeed. The server does not have
// this version, finds it invalid, or does not know how to match it.
func RefusesVersion(err error) bool {
	return IsExpired(err) || IsTooLarge(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

// isUnsupported reports that the server does not support the request.
func isUnsupported(err error) bool {
	return apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) || apierrors.IsMethodNotSupported(err)
}

// IsRefused reports that the server refuses a watch, or fails to open it. The cause may be the
// version, or a client that can list the resource but not watch it. A 504 counts as well: a gateway
// that waits for the end of a watch sends it.
func IsRefused(err error) bool {
	return isUnsupported(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || IsTooLarge(err) ||
		apierrors.IsInternalError(err) || apierrors.IsTimeout(err)
}

// StatusCode returns the code in the API server's status of a failure, or 0 if the server sent no
// status.
func StatusCode(err error) int { return int(statusOf(err).Code) }

// isPermanent reports that a retry is useless until somebody changes objects or permissions.
func isPermanent(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || isOversized(err)
}

// isOversized reports that a list had more bytes than allowed. No other failure costs as much.
func isOversized(err error) bool { return errors.Is(err, listwatch.ErrListTooLarge) }

// isUnreached reports that no connection could be opened, so that no server has responded.
func isUnreached(err error) bool {
	opErr, ok := errors.AsType[*net.OpError](err)
	return ok && (opErr.Op == "dial" || opErr.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

// isOutage reports that no server was reached, or that it refused the credentials. Such a failure
// is not about the request, and costs a server next to nothing.
func isOutage(err error) bool {
	return isUnreached(err) || apierrors.IsUnauthorized(err)
}

// isLost reports that an open connection broke.
func isLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// isBusy reports that the server is unreachable or busy, so that the failure says nothing about the
// request itself.
func isBusy(err error) bool {
	return isUnreached(err) || apierrors.IsTooManyRequests(err)
}

// isUnreachable reports that no API server has responded, although a proxy may have.
func isUnreachable(err error) bool {
	code := statusOf(err).Code
	return code == 0 || code > 500
}

// retryAfterOf returns the Retry-After of the server's response, or 0.
func retryAfterOf(err error) time.Duration {
	if details := statusOf(err).Details; details != nil {
		return time.Duration(details.RetryAfterSeconds) * time.Second
	}
	return 0
}
