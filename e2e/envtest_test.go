package e2e_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"
)

var gadgetKind = schema.GroupVersionKind{Group: "parity.example", Version: "v1", Kind: "Gadget"}

// gadgetReconciler keeps one config map for each gadget, and records the config map in the gadget's
// status.
type gadgetReconciler struct{ client.Client }

func (r gadgetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gadget := &unstructured.Unstructured{}
	gadget.SetGroupVersionKind(gadgetKind)
	if err := r.Get(ctx, req.NamespacedName, gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name + "-owned"}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		owned.Data = map[string]string{"of": req.Name}
		return controllerutil.SetControllerReference(gadget, owned, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(gadget.Object, int64(1), "status", "replicas"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.Status().Update(ctx, gadget)
}

// TestEnvtestAndAManager runs envtest and a manager of controller-runtime. envtest installs a
// CustomResourceDefinition that has two served versions. The manager reconciles objects that the
// test wrote in the other version.
func TestEnvtestAndAManager(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	eachSide(t, func(t *testing.T, s side) {
		var crd apiextensionsv1.CustomResourceDefinition
		require.NoError(t, yaml.Unmarshal([]byte(gadgets), &crd))
		opts := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{&crd}, MaxTime: time.Minute}
		_, err := envtest.InstallCRDs(s.config, opts)
		require.NoError(t, err)
		crd.ResourceVersion = ""
		_, err = envtest.InstallCRDs(s.config, opts)
		require.NoError(t, err, "a second installation must update the CustomResourceDefinition")
		defer func() { require.NoError(t, envtest.UninstallCRDs(s.config, opts)) }()

		mgr, err := ctrl.NewManager(s.config, ctrl.Options{Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"}})
		require.NoError(t, err)
		watched := &unstructured.Unstructured{}
		watched.SetGroupVersionKind(gadgetKind)
		require.NoError(t, ctrl.NewControllerManagedBy(mgr).Named("gadgets-"+rand.String(6)).For(watched).Owns(&corev1.ConfigMap{}).
			Complete(gadgetReconciler{mgr.GetClient()}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		defer func() {
			cancel()
			require.NoError(t, <-ended)
		}()

		direct, err := client.New(s.config, client.Options{})
		require.NoError(t, err)
		namespace := "envtest-" + rand.String(6)
		require.NoError(t, direct.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
		old := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(gadget), &old.Object))
		old.SetNamespace(namespace)
		require.NoError(t, direct.Create(ctx, old))
		key := client.ObjectKeyFromObject(old)
		require.Eventually(t, func() bool {
			require.NoError(t, direct.Get(ctx, key, old))
			replicas, _, _ := unstructured.NestedInt64(old.Object, "status", "replicas")
			return replicas == 1
		}, time.Minute, 50*time.Millisecond)
		require.Equal(t, "parity.example/v1beta1", old.GetAPIVersion())
		var owned corev1.ConfigMap
		require.NoError(t, direct.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "g-owned"}, &owned))
		require.Equal(t, old.GetUID(), owned.OwnerReferences[0].UID)
		require.Equal(t, "parity.example/v1", owned.OwnerReferences[0].APIVersion)

		// The manager recreates owned objects, and a deleted gadget causes no error.
		require.NoError(t, direct.Delete(ctx, &owned))
		require.Eventually(t, func() bool {
			err := direct.Get(ctx, client.ObjectKeyFromObject(&owned), &owned)
			require.NoError(t, client.IgnoreNotFound(err))
			return err == nil
		}, time.Minute, 50*time.Millisecond)
		require.NoError(t, direct.Delete(ctx, old))
		require.True(t, apierrors.IsNotFound(direct.Get(ctx, key, old)))
	})
}
