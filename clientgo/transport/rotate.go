package transport

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"k8s.io/klog/v2"

	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/connrotation"
)

// CertCallbackRefreshDuration is the time after which a client certificate is read or requested
// again. It applies to certificates from files and from functions.
var CertCallbackRefreshDuration = 5 * time.Minute

// caPeriod is the time after which a CA file is read again.
const caPeriod = 5 * time.Minute

// valueHolder is a pointer that goroutines may read and replace concurrently.
type valueHolder[V any] struct{ value atomic.Pointer[V] }

func newValueHolder[V any](first *V) *valueHolder[V] {
	k := &valueHolder[V]{}
	k.value.Store(first)
	return k
}

// rotatingTransport is a transport whose certificate or CA bundle may change. The first request
// that finds them outdated reads them again, so no goroutine has to be stopped. A program with only
// a watch makes no requests for a long time, so a timer also checks certificate files.
type rotatingTransport struct {
	current valueHolder[http.Transport]

	caFile  string // "" if the CA bundle does not change
	refresh func() (*tls.Certificate, error)
	dialer  *connrotation.Dialer // nil if refresh is nil

	mu                  sync.Mutex // guards following; held while files are read
	ca                  []byte
	caRead, certChecked time.Time
	lastCert            *tls.Certificate
}

// RoundTrip implements [http.RoundTripper].
func (r *rotatingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	r.reloadIfDue(time.Now())
	return r.current.value.Load().RoundTrip(req)
}

// WrappedRoundTripper returns the current transport.
func (r *rotatingTransport) WrappedRoundTripper() http.RoundTripper { return r.current.value.Load() }

// CloseIdleConnections is called by http.Client.
func (r *rotatingTransport) CloseIdleConnections() { r.current.value.Load().CloseIdleConnections() }

// reloadIfDue reads the CA file and the certificate again if they are outdated. If another request
// is doing this, reloadIfDue returns at once.
func (r *rotatingTransport) reloadIfDue(now time.Time) {
	if !r.mu.TryLock() {
		return
	}
	defer r.mu.Unlock()
	if r.caFile != "" && now.Sub(r.caRead) >= caPeriod {
		r.caRead = now
		r.reloadCALocked()
	}
	if r.refresh != nil && now.Sub(r.certChecked) >= CertCallbackRefreshDuration {
		r.certChecked = now
		r.refreshLocked()
	}
}

// scheduleCheck checks the certificate of r once per period, as long as r is in use.
func scheduleCheck(r weak.Pointer[rotatingTransport], period time.Duration) {
	time.AfterFunc(period, func() {
		used := r.Value()
		if used == nil {
			return
		}
		if used.mu.TryLock() { // otherwise a request is checking right now
			used.certChecked = time.Now()
			used.refreshLocked()
			used.mu.Unlock()
		}
		scheduleCheck(r, period)
	})
}

// reloadCALocked makes new connections trust the file's current CA bundle.
func (r *rotatingTransport) reloadCALocked() {
	data, err := os.ReadFile(r.caFile)
	if err != nil {
		metrics.TransportCAReloads.Increment("failure", "read_error")
		klog.ErrorS(err, "Unable to read the authorities again: the last ones stay", "file", r.caFile)
		return
	}
	if len(data) == 0 { // a program is about to write the file
		metrics.TransportCAReloads.Increment("failure", "empty")
		return
	}
	if bytes.Equal(data, r.ca) {
		metrics.TransportCAReloads.Increment("success", "unchanged")
		return
	}
	pool, err := poolOf(data)
	if err != nil {
		metrics.TransportCAReloads.Increment("failure", "ca_parse_error")
		klog.ErrorS(err, "Unable to use the authorities: the last ones stay", "file", r.caFile)
		return
	}
	before := r.current.value.Load()
	next := before.Clone()
	next.TLSClientConfig.RootCAs = pool
	r.ca = data
	r.current.value.Store(next)
	before.CloseIdleConnections()
	metrics.TransportCAReloads.Increment("success", "updated")
}

// refreshLocked closes all connections if the certificate has changed, so that new connections use
// the new certificate.
func (r *rotatingTransport) refreshLocked() {
	pair, err := r.refresh()
	if err != nil {
		klog.ErrorS(err, "Unable to get the client certificate again")
		return
	}
	if r.lastCert != nil && !sameCertificate(r.lastCert, pair) {
		r.dialer.CloseAll()
	}
	r.lastCert = pair
}

func sameCertificate(a, b *tls.Certificate) bool {
	if a == nil || b == nil {
		return a == b
	}
	if len(a.Certificate) != len(b.Certificate) {
		return false
	}
	for i := range a.Certificate {
		if !bytes.Equal(a.Certificate[i], b.Certificate[i]) {
			return false
		}
	}
	return true
}
