package exec

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os/exec"
	"sync"
	"time"

	"k8s.io/client-go/tools/metrics"

	"github.com/kinform/kinform/rest/execauth"
)

// countRun counts a call of a command in the metrics, by its outcome. The names of the outcomes are
// client-go's.
func countRun(err error) {
	if errors.Is(err, execauth.ErrNotAllowed) {
		metrics.ExecPluginPolicyCalls.Increment("denied")
		return
	}
	metrics.ExecPluginPolicyCalls.Increment("allowed")
	_, missing := errors.AsType[*exec.Error](err)
	_, pathError := errors.AsType[*fs.PathError](err)
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		metrics.ExecPluginCalls.Increment(0, "no_error")
	case ended:
		metrics.ExecPluginCalls.Increment(exit.ExitCode(), "plugin_execution_error")
	case missing || pathError:
		metrics.ExecPluginCalls.Increment(1, "plugin_not_found_error")
	default:
		metrics.ExecPluginCalls.Increment(1, "client_internal_error")
	}
}

// expiries maps each authenticator to the expiry of its certificate.
var expiries = struct {
	mu sync.Mutex // guards following
	by map[*Authenticator]time.Time
}{by: map[*Authenticator]time.Time{}}

// recordExpiry records the expiry of a new certificate, and sets the metric to the earliest expiry
// of all certificates.
func (a *Authenticator) recordExpiry(certificate *tls.Certificate) {
	expiries.mu.Lock()
	delete(expiries.by, a)
	if certificate != nil && certificate.Leaf != nil {
		expiries.by[a] = certificate.Leaf.NotAfter
	}
	var first *time.Time
	for _, end := range expiries.by {
		if first == nil || end.Before(*first) {
			first = &end
		}
	}
	expiries.mu.Unlock()
	metrics.ClientCertExpiry.Set(first)
}
