package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/reflector"
)

func TestClientWaitsForACustomResourceDefinition(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			p := startPipeline[*unstructured.Unstructured](t, settings{
				resource: schema.GroupVersionResource{Group: cluster.CRDGroup, Version: cluster.CRDVersion, Resource: cluster.CRDResource},
				path:     cluster.WidgetsPath,
				mode:     mode,
			})
			eventually(t, time.Minute, func() string {
				if p.count(apierrors.IsNotFound) > 0 {
					return ""
				}
				return fmt.Sprintf("the server has not said 404: %v", p.failures())
			})

			require.NoError(t, kube.CreateCRD(t.Context()))
			p.waitForSync(t)
			widgets := widgetChurn()
			eventually(t, time.Minute, func() string {
				// The server may not serve the custom resource yet.
				if err := widgets.step(t.Context()); err != nil {
					return err.Error()
				}
				return ""
			})
			widgets.steps(t, 100)
			p.requireServerState(t)

			require.NoError(t, kube.DeleteCRD(t.Context()))
			eventually(t, time.Minute, func() string {
				if left := p.informer.Store().Len(); left > 0 {
					return fmt.Sprintf("%d widgets outlive their definition", left)
				}
				return ""
			})
			p.stop(t)
		})
	}
}

func widgetChurn() *churn {
	name := func(number int) string { return fmt.Sprintf("widget-%05d", number) }
	return newChurn(cluster.WidgetsPath, name, func(number int) any { return cluster.Widget(name(number), number) })
}
