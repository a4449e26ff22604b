package fake

import (
	"context"

	policyv1beta1 "k8s.io/api/policy/v1beta1"
	"k8s.io/client-go/kubernetes/internal/fakes"
)

// Evict records a create of the pod's eviction, in the client's namespace.
func (c fakeEvictions) Evict(_ context.Context, eviction *policyv1beta1.Eviction) error {
	return fakes.Evict(c.Fake, c.Namespace(), eviction)
}
