package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/rand/v2"
	"net"
	"reflect"
	"sync"
	"time"

	certificates "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
)

type manager struct {
	config   Config
	template func() *x509.CertificateRequest
	usages   func(any) []certificates.KeyUsage

	ctx    context.Context // has the logger; ends at Stop
	cancel context.CancelFunc

	// changed receives a value when the template differs from the template of the last request.
	changed chan struct{}

	mu            sync.Mutex // guards following
	cert          *tls.Certificate
	replaceNow    bool // replace the certificate at once
	healthy       bool
	requested     *x509.CertificateRequest // the template of the last request
	cancelRequest context.CancelFunc       // cancels the wait for the requested certificate
}

// NewManager returns a Manager. It begins with the store's certificate or, if that is missing or
// has expired, with the bootstrap certificate.
func NewManager(config *Config) (Manager, error) {
	m := &manager{config: *config, template: config.GetTemplate, changed: make(chan struct{}, 1)}
	var err error
	if m.usages, err = config.usages(); err != nil {
		return nil, err
	}
	if m.template == nil {
		m.template = func() *x509.CertificateRequest { return config.Template }
	}
	parent := context.Background()
	if config.Ctx != nil {
		parent = *config.Ctx
	}
	logger := klog.LoggerWithName(klog.FromContext(parent), config.name(m.usages))
	if m.cert, m.replaceNow, err = initialCertificate(config); err != nil {
		return nil, err
	}
	m.ctx, m.cancel = context.WithCancel(klog.NewContext(parent, logger))
	return m, nil
}

// initialCertificate returns the certificate to begin with: the store's certificate or, if that is
// missing or has expired, the bootstrap certificate. If replace is true, it must be replaced at
// once.
func initialCertificate(config *Config) (cert *tls.Certificate, replace bool, err error) {
	cert, err = config.CertificateStore.Current()
	if err == nil {
		if cert != nil && cert.Leaf != nil && time.Now().Before(cert.Leaf.NotAfter) {
			return cert, false, nil
		}
	} else if none := (*NoCertKeyError)(nil); !errors.As(err, &none) {
		return nil, false, err
	}
	if config.BootstrapCertificatePEM == nil || config.BootstrapKeyPEM == nil {
		return nil, true, nil
	}
	given, err := tls.X509KeyPair(config.BootstrapCertificatePEM, config.BootstrapKeyPEM)
	if err != nil {
		return nil, false, err
	}
	if given.Leaf == nil {
		return nil, false, errors.New("the certificate for the beginning has no leaf")
	}
	if _, err := config.CertificateStore.Update(config.BootstrapCertificatePEM, config.BootstrapKeyPEM); err != nil {
		klog.ErrorS(err, "Unable to set the cert/key pair to the bootstrap certificate")
	}
	return &given, true, nil
}

func (m *manager) Current() *tls.Certificate {
	m.mu.Lock()
	cert := m.cert
	m.mu.Unlock()
	if cert != nil && cert.Leaf != nil && time.Now().After(cert.Leaf.NotAfter) {
		klog.FromContext(m.ctx).V(2).Info("Current certificate is expired")
		return nil
	}
	return cert
}

func (m *manager) ServerHealthy() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.healthy
}

func (m *manager) Stop() { m.cancel() }

// Start replaces certificates until Stop. Without a ClientsetFn it does nothing.
func (m *manager) Start() {
	if m.config.ClientsetFn == nil {
		klog.FromContext(m.ctx).V(2).Info("Certificate rotation is not enabled, no connection to the apiserver")
		return
	}
	go func() { m.run() }()
}

func (m *manager) run() {
	klog.FromContext(m.ctx).V(2).Info("Certificate rotation is enabled")
	var looking sync.WaitGroup
	if m.config.GetTemplate != nil {
		looking.Go(m.pollTemplate)
	}
	defer looking.Wait()
	for m.ctx.Err() == nil {
		// Without a template, a request would only fail.
		if m.waitUntilDue() && m.template() != nil {
			m.rotateUntilDone()
		}
		pause(m.ctx, time.Second)
	}
}

// waitUntilDue waits until a new certificate is needed or the template has changed. It reports
// whether a new certificate is needed.
func (m *manager) waitUntilDue() bool {
	logger := klog.FromContext(m.ctx).V(2)
	sleep := time.Until(m.due())
	if sleep > 0 {
		logger.Info("Waiting for next certificate rotation", "sleep", sleep)
	}
	wait := time.NewTimer(sleep)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-m.ctx.Done():
		return false
	case <-m.changed:
		if m.matchesTemplate() {
			// A certificate for the changed template may have arrived in the meantime.
			return false
		}
		logger.Info("Certificate template changed, rotating")
		return true
	}
}

// pollTemplate checks once a second whether the certificate, or a request in progress, still
// matches the template.
func (m *manager) pollTemplate() {
	for ; m.ctx.Err() == nil; pause(m.ctx, time.Second) {
		m.mu.Lock()
		asked, forget := m.requested, m.cancelRequest
		m.mu.Unlock()
		if m.matchesTemplate() || reflect.DeepEqual(asked, m.template()) {
			continue
		}
		if forget != nil {
			forget()
		}
		select {
		case m.changed <- struct{}{}:
		default:
		}
	}
}

// due returns the time at which the certificate must be replaced. If there is no matching
// certificate, this is now. Otherwise it is a random time after 70 to 90 % of the lifetime, so that
// many clients don't renew at once.
func (m *manager) due() time.Time {
	m.mu.Lock()
	cert, forced := m.cert, m.replaceNow
	m.replaceNow = false
	m.mu.Unlock()
	if forced || cert == nil || !m.matchesTemplate() {
		return time.Now()
	}
	life := float64(cert.Leaf.NotAfter.Sub(cert.Leaf.NotBefore))
	deadline := cert.Leaf.NotBefore.Add(time.Duration(life * (0.7 + 0.2*rand.Float64())))
	klog.FromContext(m.ctx).V(2).Info("Certificate rotation deadline determined", "expiration", cert.Leaf.NotAfter, "deadline", deadline)
	return deadline
}

// matchesTemplate reports whether the certificate has everything that the template requires. It
// returns true if there is no template.
func (m *manager) matchesTemplate() bool {
	m.mu.Lock()
	cert := m.cert
	m.mu.Unlock()
	if cert == nil {
		return false
	}
	template := m.template()
	if template == nil {
		return true
	}
	has, wants := cert.Leaf, template
	missing := func(has, wants []string) []string { return sets.List(sets.New(wants...).Difference(sets.New(has...))) }
	dnsNames, orgs := missing(has.DNSNames, wants.DNSNames), missing(has.Subject.Organization, wants.Subject.Organization)
	ips := missing(ipStrings(has.IPAddresses), ipStrings(wants.IPAddresses))
	switch logger := klog.FromContext(m.ctx).V(2); {
	case has.Subject.CommonName != wants.Subject.CommonName:
		logger.Info("Current certificate CN does not match requested CN", "currentName", has.Subject.CommonName, "requestedName", wants.Subject.CommonName)
	case len(dnsNames) > 0:
		logger.Info("Current certificate is missing requested DNS names", "dnsNames", dnsNames)
	case len(ips) > 0:
		logger.Info("Current certificate is missing requested IP addresses", "IPs", ips)
	case len(orgs) > 0:
		logger.Info("Current certificate is missing requested orgs", "orgs", orgs)
	default:
		return true
	}
	return false
}

func ipStrings(ips []net.IP) (all []string) {
	for _, ip := range ips {
		all = append(all, ip.String())
	}
	return all
}

// setCertificate makes cert the current certificate, and records the age of the certificate before
// it.
func (m *manager) setCertificate(cert *tls.Certificate) {
	m.mu.Lock()
	old := m.cert
	m.cert, m.healthy = cert, true
	m.mu.Unlock()
	if old != nil && m.config.CertificateRotation != nil {
		m.config.CertificateRotation.Observe(time.Since(old.Leaf.NotBefore).Seconds())
	}
}

// recordFailure counts and logs a failed renewal.
func (m *manager) recordFailure(err error, doing string) {
	utilruntime.HandleErrorWithContext(m.ctx, err, doing)
	if m.config.CertificateRenewFailure != nil {
		m.config.CertificateRenewFailure.Inc()
	}
}

// updateHealth determines from a response whether the server is healthy.
func (m *manager) updateHealth(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case apierrors.IsUnauthorized(err): // a proxy in front of a working server may have sent it
		m.healthy = true
	case apierrors.IsUnexpectedServerError(err):
		m.healthy = false
	default: // a working server may respond with NotFound or Forbidden
		m.healthy = apierrors.IsNotFound(err) || apierrors.IsForbidden(err)
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

var errNoTemplate = errors.New("there is no template for a certificate")
