package v1beta1

import (
	"context"

	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/internal/codec"
)

// CertificateSigningRequestExpansion has the methods that only the client of signing requests has.
type CertificateSigningRequestExpansion interface {
	// UpdateApproval writes the conditions that approve or deny a request.
	UpdateApproval(ctx context.Context, certificateSigningRequest *certificatesv1beta1.CertificateSigningRequest, opts metav1.UpdateOptions) (result *certificatesv1beta1.CertificateSigningRequest, err error)
}

// UpdateApproval implements CertificateSigningRequestExpansion.
func (c *certificateSigningRequests) UpdateApproval(ctx context.Context, request *certificatesv1beta1.CertificateSigningRequest, opts metav1.UpdateOptions) (*certificatesv1beta1.CertificateSigningRequest, error) {
	result := &certificatesv1beta1.CertificateSigningRequest{}
	err := c.GetClient().Put().Resource("certificatesigningrequests").Name(request.Name).VersionedParams(&opts, codec.Parameters).
		SubResource("approval").Body(request).Do(ctx).Into(result)
	return result, err
}
