package certificate

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/certificate/csr"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/klog/v2"
)

// signingTimeout is how long a request waits for the signer. People may approve requests by hand.
// After this time there is a new request, because the old request may have been overlooked.
const signingTimeout = 15 * time.Minute

// rotateUntilDone calls rotate until it succeeds. The waits between the calls grow up to 32
// seconds.
func (m *manager) rotateUntilDone() {
	backoff := wait.Backoff{Duration: 2 * time.Second, Factor: 2, Jitter: 0.1, Steps: 5}
	for m.ctx.Err() == nil && !m.rotate() {
		if backoff.Steps > 1 {
			pause(m.ctx, backoff.Step())
		} else {
			pause(m.ctx, 32*time.Second)
		}
	}
}

// rotate requests a certificate, waits for it, and stores it. It reports whether it succeeded.
func (m *manager) rotate() bool {
	klog.FromContext(m.ctx).V(2).Info("Rotating certificates")
	template := m.template()
	if template == nil {
		m.recordFailure(errNoTemplate, "No certificate can be requested")
		return false
	}
	key, keyPEM, request, err := m.request(template)
	if err != nil {
		m.recordFailure(err, "Unable to generate a certificate signing request")
		return false
	}
	client, err := m.config.ClientsetFn(m.Current())
	if err != nil {
		m.recordFailure(err, "Unable to load a client to request certificates")
		return false
	}
	name, uid, err := csr.RequestCertificateWithContext(m.ctx, client, request, "", m.config.SignerName, m.config.RequestedCertificateLifetime, m.usages(key), key)
	if err != nil {
		m.recordFailure(err, "Failed while requesting a signed certificate from the control plane")
		m.updateHealth(err)
		return false
	}
	ctx, cancel := context.WithTimeout(m.ctx, signingTimeout)
	defer cancel()
	m.mu.Lock()
	m.requested, m.cancelRequest = template, cancel
	m.mu.Unlock()
	certPEM, err := csr.WaitForCertificate(ctx, client, name, uid)
	if err != nil {
		m.recordFailure(err, "certificate request was not signed")
		return false
	}
	cert, err := m.config.CertificateStore.Update(certPEM, keyPEM)
	if err != nil {
		m.recordFailure(err, "Unable to store the new cert/key pair")
		return false
	}
	m.setCertificate(cert)
	return true
}

// request generates a key and a certificate request for it.
func (m *manager) request(template *x509.CertificateRequest) (key crypto.Signer, keyPEM, request []byte, err error) {
	if m.config.GenerateKey != nil {
		key, err = m.config.GenerateKey()
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("unable to generate a new private key: %w", err)
	}
	if err := checkKeyStrength(key); err != nil {
		return nil, nil, nil, err
	}
	if keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return nil, nil, nil, fmt.Errorf("unable to marshal the new key to PEM: %w", err)
	}
	if request, err = certutil.MakeCSRFromTemplate(key, template); err != nil {
		return nil, nil, nil, fmt.Errorf("unable to create a csr from the template: %w", err)
	}
	return key, keyPEM, request, nil
}

// checkKeyStrength returns an error if the key is shorter than GenerateKey of Config requires.
func checkKeyStrength(key crypto.Signer) error {
	bits, least := 0, 0
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		bits, least = k.Curve.Params().BitSize, 256
	case *rsa.PrivateKey:
		bits, least = k.N.BitLen(), 2048
	}
	if bits < least {
		return fmt.Errorf("GenerateKey made a %T of %d bits, and %d are the least", key, bits, least)
	}
	return nil
}
