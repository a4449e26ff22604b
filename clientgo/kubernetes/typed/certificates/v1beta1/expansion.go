package v1beta1

import (
	"context"

	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/internal/codec"
)

// CertificateSigningRequestExpansion has the requests for signing requests that other objects do not have.
type CertificateSigningRequestExpansion interface {
	// UpdateApproval writes the conditions by which a request is approved or denied.
	UpdateApproval(ctx context.Context, certificateSigningRequest *certificatesv1beta1.CertificateSigningRequest, opts metav1.UpdateOptions) (result *certificatesv1beta1.CertificateSigningRequest, err error)
}

// UpdateApproval implements CertificateSigningRequestExpansion.
func (c *certificateSigningRequests) UpdateApproval(ctx context.Context, request *certificatesv1beta1.CertificateSigningRequest, opts metav1.UpdateOptions) (*certificatesv1beta1.CertificateSigningRequest, error) {
	result := &certificatesv1beta1.CertificateSigningRequest{}
	err := c.GetClient().Put().Resource("certificatesigningrequests").Name(request.Name).VersionedParams(&opts, codec.Parameters).
		SubResource("approval").Body(request).Do(ctx).Into(result)
	return result, err
}
