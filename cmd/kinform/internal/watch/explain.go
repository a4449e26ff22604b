package watch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/rest/discovery"
)

var errNoAnswer = errors.New("no answer in time")

// explain says in one line what kept the command from watching, and what to do
// about it. The cause follows, as the one who reads it may need it.
func explain(err error, host, resource string) error {
	var dns *net.DNSError
	var unknownAuthority x509.UnknownAuthorityError
	var notFound *discovery.NotFoundError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &notFound):
		return err // It has the names that are close already.
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("%s does not accept your credentials: log in again, or check the user in your kubeconfig: %w", host, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("you may not list and watch %s at %s: ask for a role with these verbs, or try another namespace with -n: %w", resource, host, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s has no resource %s: kubectl api-resources lists what there is: %w", host, resource, err)
	case errors.As(err, &dns):
		return fmt.Errorf("the cluster at %s cannot be reached, as its name cannot be resolved: check the server in your kubeconfig: %w", host, err)
	case errors.As(err, &unknownAuthority):
		return fmt.Errorf("%s shows a certificate that your kubeconfig does not trust: check its certificate-authority: %w", host, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("the cluster at %s cannot be reached, nothing listens there: is it running, and is the server in your kubeconfig right?: %w", host, err)
	case errors.Is(err, errNoAnswer), errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return fmt.Errorf("the cluster at %s cannot be reached, it does not answer: check your network and the server in your kubeconfig: %w", host, err)
	default:
		return err
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
