// Package csr requests certificates from the API server's signers.
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

// RequestCertificateWithContext creates a CertificateSigningRequest, and returns its name and UID.
// csrData is a PEM request signed by privateKey. If the name is empty, the server generates a name.
// If a request of the same name exists, for example from before a restart of the process, it is
// reused. It must have the same key and signer, and its certificate, if it has one, must not have
// expired. The signer may ignore requestedDuration.
//
// If the server does not have certificates.k8s.io/v1, v1beta1 is used. v1beta1 is also used for
// requests that v1 would reject: without a signer or usages, or with the legacy signer.
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
	if apierrors.IsNotFound(err) && !requests.beta {
		requests = requestsOf(client, true)
		made, err = requests.create(ctx, wanted)
	}
	switch {
	case err == nil:
		klog.FromContext(ctx).V(2).Info("Certificate signing request created", "csr", made.Name)
		return made.Name, made.UID, nil
	case !apierrors.IsAlreadyExists(err) || name == "":
		return "", "", wrapError(err, "cannot create certificate signing request: %w")
	}
	klog.FromContext(ctx).Info("A certificate signing request of this name exists: using it", "csr", name)
	made, err = requests.get(ctx, name)
	if err != nil {
		return "", "", wrapError(err, "cannot retrieve certificate signing request: %w")
	}
	if err := checkReusable(made, wanted, privateKey); err != nil {
		return "", "", fmt.Errorf("retrieved csr is not compatible: %w", err)
	}
	return made.Name, made.UID, nil
}

// checkReusable returns an error if an existing request cannot be used in place of the wanted
// request.
func checkReusable(found, wanted *certificatesv1.CertificateSigningRequest, privateKey any) error {
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

// parse decodes a PEM request.
func parse(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

// wrapError adds a description of the failed operation to an error. The functions of package
// apierrors still recognize the result.
func wrapError(err error, format string) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		said := *status
		said.ErrStatus.Message = fmt.Errorf(format, errors.New(status.ErrStatus.Message)).Error()
		return &said
	}
	return fmt.Errorf(format, err)
}

// DurationToExpirationSeconds converts a duration to whole seconds.
func DurationToExpirationSeconds(duration time.Duration) *int32 {
	seconds := int32(duration / time.Second)
	return &seconds
}

// ExpirationSecondsToDuration converts seconds to a duration.
func ExpirationSecondsToDuration(expirationSeconds int32) time.Duration {
	return time.Duration(expirationSeconds) * time.Second
}

// fromV1beta1 converts a v1beta1 request to v1. It copies the fields that both versions have.
func fromV1beta1(old *certificatesv1beta1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
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
