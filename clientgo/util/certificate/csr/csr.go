// Package csr asks the API server's signers for certificates.
package csr

import (
	"context"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/klog/v2"
)

// RequestCertificate is RequestCertificateWithContext without a context.
//
// Deprecated: use RequestCertificateWithContext.
func RequestCertificate(client clientset.Interface, csrData []byte, name, signerName string, requestedDuration *time.Duration, usages []certificatesv1.KeyUsage, privateKey interface{}) (reqName string, reqUID types.UID, err error) {
	return RequestCertificateWithContext(context.Background(), client, csrData, name, signerName, requestedDuration, usages, privateKey)
}

// RequestCertificateWithContext creates a CertificateSigningRequest, and returns its name and UID. csrData is a
// request in PEM that privateKey has signed. Without a name, the server makes one. A request of the name that exists,
// because this process was there before, is taken if it is for the same key and signer, and if its certificate,
// should it have one, has not expired. requestedDuration is a wish, which the signer may ignore. A server
// without certificates.k8s.io/v1 is asked in v1beta1, and so is each server for what v1 refuses: no signer, that for legacy
// requests, or no usages.
func RequestCertificateWithContext(ctx context.Context, client clientset.Interface, csrData []byte, name, signerName string, requestedDuration *time.Duration, usages []certificatesv1.KeyUsage, privateKey interface{}) (reqName string, reqUID types.UID, err error) {
	wanted := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       certificatesv1.CertificateSigningRequestSpec{Request: csrData, Usages: usages, SignerName: signerName},
	}
	if name == "" {
		wanted.GenerateName = "csr-"
	}
	if requestedDuration != nil {
		wanted.Spec.ExpirationSeconds = DurationToExpirationSeconds(*requestedDuration)
	}
	requests := requestsOf(client, len(usages) == 0 || signerName == "" || signerName == certificatesv1beta1.LegacyUnknownSignerName)
	made, err := requests.create(ctx, wanted)
	if apierrors.IsNotFound(err) && !requests.old {
		requests = requestsOf(client, true)
		made, err = requests.create(ctx, wanted)
	}
	switch {
	case err == nil:
		return made.Name, made.UID, nil
	case !apierrors.IsAlreadyExists(err) || name == "":
		return "", "", named(err, "cannot create certificate signing request: %w")
	}
	klog.FromContext(ctx).Info("A certificate signing request of this name exists: using it", "csr", name)
	made, err = requests.get(ctx, name)
	if err != nil {
		return "", "", named(err, "cannot retrieve certificate signing request: %w")
	}
	if err := usable(made, wanted, privateKey); err != nil {
		return "", "", fmt.Errorf("retrieved csr is not compatible: %w", err)
	}
	return made.Name, made.UID, nil
}

// usable says why a request that exists is not the one that is wanted.
func usable(found, wanted *certificatesv1.CertificateSigningRequest, privateKey any) error {
	theirs, err := parse(found.Spec.Request)
	if err != nil {
		return fmt.Errorf("unable to parse original csr: %w", err)
	}
	ours, err := parse(wanted.Spec.Request)
	if err != nil {
		return fmt.Errorf("unable to parse new csr: %w", err)
	}
	if !reflect.DeepEqual(ours.Subject, theirs.Subject) {
		return fmt.Errorf("csr subjects differ: new: %#v, orig: %#v", ours.Subject, theirs.Subject)
	}
	if found.Spec.SignerName != "" && wanted.Spec.SignerName != "" && found.Spec.SignerName != wanted.Spec.SignerName {
		return fmt.Errorf("csr signerNames differ: new %q, orig: %q", wanted.Spec.SignerName, found.Spec.SignerName)
	}
	signer, ok := privateKey.(crypto.Signer)
	if !ok {
		return errors.New("privateKey is not a signer")
	}
	ours.PublicKey = signer.Public()
	if err := ours.CheckSignature(); err != nil {
		return fmt.Errorf("error validating signature new CSR against old key: %w", err)
	}
	theirs.PublicKey = signer.Public()
	if err := theirs.CheckSignature(); err != nil {
		return fmt.Errorf("the existing request is for another key: %w", err)
	}
	if len(found.Status.Certificate) > 0 {
		issued, err := certutil.ParseCertsPEM(found.Status.Certificate)
		if err != nil {
			return fmt.Errorf("error parsing issued certificate: %w", err)
		}
		now := time.Now()
		for _, c := range issued {
			if now.After(c.NotAfter) {
				return fmt.Errorf("one of the certificates for the csr has expired: %s", c.NotAfter)
			}
		}
	}
	return nil
}

// parse reads a request in PEM.
func parse(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// named says what could not be done, in an error of the same kind.
func named(err error, format string) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		said := *status
		said.ErrStatus.Message = fmt.Errorf(format, errors.New(status.ErrStatus.Message)).Error()
		return &said
	}
	return fmt.Errorf(format, err)
}

// DurationToExpirationSeconds returns whole seconds.
func DurationToExpirationSeconds(duration time.Duration) *int32 {
	seconds := int32(duration / time.Second)
	return &seconds
}

// ExpirationSecondsToDuration returns the duration of seconds.
func ExpirationSecondsToDuration(expirationSeconds int32) time.Duration {
	return time.Duration(expirationSeconds) * time.Second
}

// current has what both versions of the API have in common, as v1.
func current(old *certificatesv1beta1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
	r := &certificatesv1.CertificateSigningRequest{ObjectMeta: old.ObjectMeta}
	r.Spec = certificatesv1.CertificateSigningRequestSpec{Request: old.Spec.Request, ExpirationSeconds: old.Spec.ExpirationSeconds}
	if old.Spec.SignerName != nil {
		r.Spec.SignerName = *old.Spec.SignerName
	}
	for _, u := range old.Spec.Usages {
		r.Spec.Usages = append(r.Spec.Usages, certificatesv1.KeyUsage(u))
	}
	r.Status.Certificate = old.Status.Certificate
	for _, c := range old.Status.Conditions {
		r.Status.Conditions = append(r.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.RequestConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		})
	}
	return r
}
