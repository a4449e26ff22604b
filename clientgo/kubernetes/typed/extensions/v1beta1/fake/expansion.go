package fake

import (
	"context"

	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/testing"
)

// Rollback is recorded without a namespace. A tracker rejects it, because a DeploymentRollback has
// no metadata.
func (c fakeDeployments) Rollback(_ context.Context, rollback *extensionsv1beta1.DeploymentRollback, _ metav1.CreateOptions) error {
	_, err := c.Invokes(testing.NewRootCreateSubresourceAction(c.Resource(), "", "rollback", rollback), rollback)
	return err
}
