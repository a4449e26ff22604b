package watch

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

// errNoResponse is the cause if the cluster does not respond in time.
var errNoResponse = errors.New("no response within --connect-timeout")

// finalError is an error whose text is complete: explain adds nothing to it.
type finalError struct{ error }

// explain returns a one-line error that says why the command cannot watch and what to do. The cause
// is at its end.
func explain(err error, host, resource string) error {
	if err == nil || isA[finalError](err) {
		return err
	}
	problem := func(format string, args ...any) error {
		return fmt.Errorf(format+": %w", append(args, rootCause(err))...)
	}
	switch {
	case apierrors.IsUnauthorized(err), refusedByPeer(err):
		return problem("%s does not accept your credentials: log in again, or check the user in your kubeconfig", host)
	case apierrors.IsForbidden(err) && isA[*discovery.Error](err):
		return problem("%s does not let you list its resources, so the resource %q is unknown: ask for the role system:discovery", host, resource)
	case apierrors.IsForbidden(err):
		return problem("you may not list and watch %s at %s: ask for a role with these verbs, or try another namespace with -n", resource, host)
	case apierrors.IsNotFound(err):
		return problem("%s has no resource %s any more: kubectl api-resources lists all resources", host, resource)
	case apierrors.IsBadRequest(err):
		return problem("%s refuses to list %s: check your selectors", host, resource)
	case isA[*tls.CertificateVerificationError](err):
		return problem("%s shows a certificate that your kubeconfig does not trust: check its server and certificate-authority", host)
	case isA[*net.DNSError](err):
		return problem("the cluster at %s cannot be reached, its name is unknown: check the server in your kubeconfig", host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return problem("the cluster at %s cannot be reached, nothing listens there: is it running, and is the server in your kubeconfig right?", host)
	case errors.Is(err, errNoResponse), isTimeout(err):
		return problem("the cluster at %s cannot be reached, it does not answer: check your network and the server in your kubeconfig", host)
	case isA[*net.OpError](err):
		return problem("the cluster at %s cannot be reached: check your network and the server in your kubeconfig", host)
	case isA[*apierrors.StatusError](err):
		return problem("%s cannot answer now: try again later, or look into the logs of its API server", host)
	case errors.Is(err, rest.ErrMalformed), isA[tls.RecordHeaderError](err):
		return problem("%s does not answer as an API server does: check the server in your kubeconfig, and proxies on the way", host)
	default:
		return problem("cannot watch %s at %s", resource, host)
	}
}

// rootCause returns the cause without the failed requests: when discovery fails, several requests
// may have failed for the same reason.
func rootCause(err error) error {
	if object, ok := errors.AsType[*listwatch.ObjectError](err); ok {
		named := *object
		named.Err = rootCause(object.Err)
		return &named
	}
	if incomplete, ok := errors.AsType[*discovery.Error](err); ok {
		err = incomplete.Failures[0].Err
	}
	if request, ok := errors.AsType[*rest.Error](err); ok {
		err = request.Err
	}
	return err
}

// refusedByPeer reports whether the server ended the TLS handshake. A server does so if it requires
// another client certificate.
func refusedByPeer(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error"
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
