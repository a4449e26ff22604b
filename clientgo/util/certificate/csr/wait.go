//lint:file-ignore SA1019 programs compare with wait.ErrWaitTimeout

package csr

import (
	"context"
	"errors"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clientset "k8s.io/client-go/kubernetes"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
)

// WaitForCertificate waits until a request is approved and signed, and returns its certificate in
// PEM. It returns an error if the request is denied, fails, is deleted or is replaced, or if ctx
// ends.
func WaitForCertificate(ctx context.Context, client clientset.Interface, reqName string, reqUID types.UID) (certData []byte, err error) {
	logger := klog.FromContext(ctx)
	requests, err := detectVersion(ctx, client, reqName)
	if err != nil {
		return nil, err
	}
	source, kind := requests.listerWatcher(ctx, reqName)
	unapproved := false
	_, err = watchtools.UntilWithSync(ctx, source, kind, nil, func(event watch.Event) (bool, error) {
		var found *certificatesv1.CertificateSigningRequest
		switch object := event.Object.(type) {
		case *certificatesv1.CertificateSigningRequest:
			found = object
		case *certificatesv1beta1.CertificateSigningRequest:
			found = fromV1beta1(object)
		default:
			return false, fmt.Errorf("unexpected type received: %T", event.Object)
		}
		if found.Name != reqName {
			return false, nil // fakes ignore field selectors
		}
		if event.Type == watch.Deleted {
			return false, fmt.Errorf("csr %q was deleted", reqName)
		}
		if found.UID != reqUID {
			return false, fmt.Errorf("csr %q changed UIDs", found.Name)
		}
		approved := false
		for _, c := range found.Status.Conditions {
			switch c.Type {
			case certificatesv1.CertificateDenied:
				return false, fmt.Errorf("certificate signing request is denied, reason: %v, message: %v", c.Reason, c.Message)
			case certificatesv1.CertificateFailed:
				return false, fmt.Errorf("certificate signing request failed, reason: %v, message: %v", c.Reason, c.Message)
			case certificatesv1.CertificateApproved:
				approved = true
			}
		}
		if len(found.Status.Certificate) > 0 && !approved && !unapproved {
			unapproved = true
			logger.Info("A certificate was issued, and its request is not approved: waiting", "csr", reqName)
		}
		if !approved {
			return false, nil
		}
		if len(found.Status.Certificate) == 0 {
			logger.V(2).Info("Certificate signing request is approved, waiting to be issued", "csr", klog.KObj(found))
			return false, nil
		}
		logger.V(2).Info("Certificate signing request is issued", "csr", klog.KObj(found))
		certData = found.Status.Certificate
		return true, nil
	})
	if errors.Is(err, wait.ErrWaitTimeout) || wait.Interrupted(err) {
		return nil, wait.ErrWaitTimeout
	}
	if err != nil {
		return nil, wrapError(err, "cannot watch on the certificate signing request: %w")
	}
	return certData, nil
}

// detectVersion finds out which API version of requests the server has. It retries once a second
// until ctx ends.
func detectVersion(ctx context.Context, client clientset.Interface, name string) (found requests, err error) {
	selected := metav1.ListOptions{FieldSelector: "metadata.name=" + name}
	wanted := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		found = requestsOf(client, false)
		if _, err = client.CertificatesV1().CertificateSigningRequests().List(ctx, selected); apierrors.IsNotFound(err) {
			found = requestsOf(client, true)
			_, err = client.CertificatesV1beta1().CertificateSigningRequests().List(ctx, selected)
		}
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Cannot list certificate signing requests", "err", err)
		}
		return err == nil, nil
	})
	if wanted != nil {
		return found, wait.ErrWaitTimeout
	}
	return found, nil
}
