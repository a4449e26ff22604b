package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// widget is the custom resource with the fields that its controller knows. The server accepts any
// content in these fields.
type widget struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Size  int               `json:"size"`
		Limit resource.Quantity `json:"limit"`
	} `json:"spec"`
}

// TestG2_UndecodableObjectsAreReported writes objects as a tenant may write them. A quantity that
// is slow to parse must be decoded like in apimachinery. An object that cannot be decoded must be
// reported to every waiter and every health check.
func TestG2_UndecodableObjectsAreReported(t *testing.T) {
	client := newClient(t, kube.Config())
	widgets := schema.GroupVersionResource{Group: cluster.CRDGroup, Version: cluster.CRDVersion, Resource: cluster.CRDResource}
	write := func(name string, spec map[string]any) {
		t.Helper()
		require.NoError(t, kube.Patch(t.Context(), cluster.WidgetsPath+"/"+name, map[string]any{"spec": spec}))
	}
	run := func(skip bool) *informer.Informer[*widget] {
		t.Helper()
		opts := informer.Options[*widget]{Reflector: reflector.Options{
			SkipUndecodable: skip, Backoff: reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second},
		}}
		inf, err := informer.New(rest.Must(rest.NewJSONResource[*widget](client, widgets, rest.ResourceOptions{Namespace: cluster.Namespace})), opts)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- inf.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			require.NoError(t, <-ended)
		})
		return inf
	}
	synced := func(inf *informer.Informer[*widget]) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.NoError(t, inf.WaitForSync(ctx))
		require.NoError(t, inf.Healthy(time.Minute))
	}
	names := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, reflector.ErrUndecodable)
		require.ErrorContains(t, err, "object "+cluster.Namespace+"/tenant could not be read: ")
		require.ErrorContains(t, err, "cannot unmarshal string into Go struct field")
	}
	tenant := types.NamespacedName{Namespace: cluster.Namespace, Name: "tenant"}

	eventually(t, time.Minute, func() string {
		// The server may still have the CustomResourceDefinition of another test.
		if err := kube.CreateCRD(t.Context()); err != nil {
			return err.Error()
		}
		return ""
	})
	defer func() { require.NoError(t, kube.DeleteCRD(context.WithoutCancel(t.Context()))) }()
	eventually(t, time.Minute, func() string { // The server may not accept the objects yet.
		if err := kube.Create(t.Context(), cluster.WidgetsPath, cluster.Widget(tenant.Name, 1)); err != nil {
			return err.Error()
		}
		return ""
	})
	write(tenant.Name, map[string]any{"limit": "1e-1000"})

	first := run(false)
	synced(first)
	stored, ok := first.Store().Get(tenant)
	require.True(t, ok)
	want := resource.MustParse("1e-1000")
	require.Zero(t, stored.Spec.Limit.Cmp(want), "%v", &stored.Spec.Limit)
	require.Equal(t, want.String(), stored.Spec.Limit.String())
	write(tenant.Name, map[string]any{"limit": "1e-1000000000"})
	_, err := await.Until(t.Context(), first.Store(), tenant, await.New("it is changed", func(s await.State[*widget]) bool {
		return s.Exists && s.ResourceVersion != stored.ResourceVersion
	}))
	require.NoError(t, err)
	now, _ := first.Store().Get(tenant)
	require.Zero(t, now.Spec.Limit.Cmp(resource.MustParse("1n")))

	// If an object becomes undecodable, the store keeps its old state, and the error names the
	// object.
	write(tenant.Name, map[string]any{"size": "many"})
	_, err = await.Until(t.Context(), first.Store(), tenant, await.Deleted[*widget](""))
	require.ErrorContains(t, err, "cannot unmarshal string")
	names(first.Healthy(time.Minute))
	undecodable := first.Status().Undecodable
	require.Equal(t, 1, undecodable.Count)
	require.Equal(t, tenant, undecodable.Objects[0].Key)
	old, ok := first.Store().Get(tenant)
	require.True(t, ok)
	require.Same(t, now, old)

	// If an object is undecodable from the start, only informers with SkipUndecodable can sync.
	second, third := run(false), run(true)
	synced(third)
	require.Zero(t, third.Store().Len())
	require.Equal(t, 1, third.Status().Undecodable.Count)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err = second.WaitForSync(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	names(err)

	write(tenant.Name, map[string]any{"size": 3})
	synced(second)
	for _, inf := range []*informer.Informer[*widget]{first, second, third} {
		eventually(t, 30*time.Second, func() string {
			if err := inf.Healthy(time.Minute); err != nil {
				return err.Error()
			}
			if stored, ok := inf.Store().Get(tenant); !ok || stored.Spec.Size != 3 {
				return "the repaired object is not stored"
			}
			return ""
		})
		require.Zero(t, inf.Status().Undecodable.Count)
	}
	write(tenant.Name, map[string]any{"size": "again"})
	for _, inf := range []*informer.Informer[*widget]{first, second} {
		eventually(t, 30*time.Second, func() string {
			if inf.Healthy(time.Minute) == nil {
				return "no error reports that the object cannot be decoded"
			}
			return ""
		})
		names(inf.Healthy(time.Minute))
	}
}
