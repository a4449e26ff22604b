package fake

import (
	"context"

	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/internal/fakes"
	"k8s.io/client-go/testing"
)

// UpdateApproval replaces the whole signing request, because a tracker does not treat approval as a
// separate subresource.
func (c fakeCertificateSigningRequests) UpdateApproval(_ context.Context, request *certificatesv1beta1.CertificateSigningRequest, _ metav1.UpdateOptions) (*certificatesv1beta1.CertificateSigningRequest, error) {
	return fakes.Invoke(c, testing.NewRootUpdateSubresourceAction(c.Resource(), "approval", request), request)
}
