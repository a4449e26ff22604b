package v1beta1

import (
	"context"

	policyv1beta1 "k8s.io/api/policy/v1beta1"
)

// EvictionExpansion has the methods that only the client of evictions has.
type EvictionExpansion interface {
	// Evict deletes a pod, unless its disruption budgets forbid it.
	Evict(ctx context.Context, eviction *policyv1beta1.Eviction) error
}

// Evict implements EvictionExpansion. It posts to the eviction subresource of the pod, which is in
// the core group.
func (c *evictions) Evict(ctx context.Context, eviction *policyv1beta1.Eviction) error {
	return c.GetClient().Post().AbsPath("/api/v1").Namespace(eviction.Namespace).Resource("pods").Name(eviction.Name).
		SubResource("eviction").Body(eviction).Do(ctx).Error()
}
