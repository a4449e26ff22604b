package v1beta1

import (
	"context"

	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/internal/codec"
)

// DeploymentExpansion has the methods that only the client of deployments has.
type DeploymentExpansion interface {
	// Rollback rolls a deployment back to an earlier revision. Servers since 1.16 do not support
	// it.
	Rollback(context.Context, *extensionsv1beta1.DeploymentRollback, metav1.CreateOptions) error
}

// Rollback implements DeploymentExpansion.
func (c *deployments) Rollback(ctx context.Context, rollback *extensionsv1beta1.DeploymentRollback, opts metav1.CreateOptions) error {
	return c.GetClient().Post().Namespace(c.GetNamespace()).Resource("deployments").Name(rollback.Name).
		VersionedParams(&opts, codec.Parameters).SubResource("rollback").Body(rollback).Do(ctx).Error()
}
