package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/e2e/cluster"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// runFactory runs a factory until the test ends.
func runFactory(t *testing.T, factory *informer.Factory) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- factory.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestSeveralNamespacesShareOneStore(t *testing.T) {
	client := newClient(t, kube.Config())
	namespaces := rest.Must(rest.For[*corev1.Namespace](client, rest.ResourceOptions{}))
	var names [3]string // The test does not use the third name.
	for i := range names {
		created, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "merged-"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		names[i] = created.Name
	}
	maps := rest.Must(rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{}))
	create := func(namespace, name string) types.NamespacedName {
		created, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
		return keyOf(created)
	}
	early := create(names[0], "early")
	create(names[2], "of-nobody")

	var factory informer.Factory
	runFactory(t, &factory)
	handle, err := informer.Acquire(&factory,
		informer.Selection{Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Namespaces: names[:2]},
		func(s informer.Selection) (listwatch.Source[*corev1.ConfigMap], error) {
			return rest.For[*corev1.ConfigMap](client, rest.ResourceOptions{Namespace: s.Namespace()})
		}, informer.Options[*corev1.ConfigMap]{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, factory.WaitForSync(ctx))
	_, stored := handle.Store().Get(early)
	require.True(t, stored)

	late := []types.NamespacedName{create(names[0], "late"), create(names[1], "late")}
	for _, key := range late {
		_, err := await.Until(ctx, handle.Store(), key, await.Exists[*corev1.ConfigMap]())
		require.NoError(t, err)
	}
	require.NoError(t, maps.Delete(ctx, early, metav1.DeleteOptions{}))
	_, err = await.Until(ctx, handle.Store(), early, await.Deleted[*corev1.ConfigMap](""))
	require.NoError(t, err)
	for key := range handle.Store().All() {
		require.NotEqual(t, names[2], key.Namespace)
	}

	require.NoError(t, handle.Release(ctx))
	require.Empty(t, factory.Status())
}

func TestFactoryStartsAnInformerWhenItsCRDAppears(t *testing.T) {
	client := newClient(t, kube.Config())
	widgets := schema.GroupVersionResource{Group: cluster.CRDGroup, Version: cluster.CRDVersion, Resource: cluster.CRDResource}
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	var factory informer.Factory
	runFactory(t, &factory)

	watched, err := informer.Acquire(&factory, informer.Selection{Resource: definitions},
		func(informer.Selection) (listwatch.Source[*metav1.PartialObjectMetadata], error) {
			return rest.NewResource[*metav1.PartialObjectMetadata](client, definitions, rest.ResourceOptions{})
		}, informer.Options[*metav1.PartialObjectMetadata]{})
	require.NoError(t, err)
	_, err = watched.AddHandler(func(e informer.Event[*metav1.PartialObjectMetadata]) {
		if e.Type != informer.Deleted {
			factory.Wake(schema.ParseGroupResource(e.Key.Name))
		}
	}, informer.HandlerOptions{})
	require.NoError(t, err)

	opts := informer.Options[*unstructured.Unstructured]{}
	// This back-off would delay the sync for minutes, but a wake-up ends it.
	opts.Reflector.Backoff.Base = 2 * time.Minute
	opts.Reflector.Backoff.Max = 2 * time.Minute
	handle, err := informer.Acquire(&factory, informer.Selection{Resource: widgets},
		func(informer.Selection) (listwatch.Source[*unstructured.Unstructured], error) {
			return rest.NewJSONResource[*unstructured.Unstructured](client, widgets, rest.ResourceOptions{})
		}, opts)
	require.NoError(t, err)
	eventually(t, time.Minute, func() string {
		for _, s := range factory.Status() {
			if s.Waiting && s.Selection.Resource == widgets {
				return ""
			}
		}
		return fmt.Sprintf("nothing waits for a definition: %+v", factory.Status())
	})

	require.NoError(t, kube.CreateCRD(t.Context()))
	defer func() { require.NoError(t, kube.DeleteCRD(context.WithoutCancel(t.Context()))) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, handle.WaitForSync(ctx), "the informer must sync before its back-off ends")
}
