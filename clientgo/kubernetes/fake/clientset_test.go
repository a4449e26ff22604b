//go:build !kinform_no_openapi

package fake_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apimachinery/pkg/watch"
	applyautoscalingv1 "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	fakecorev1 "k8s.io/client-go/kubernetes/typed/core/v1/fake"
	"k8s.io/client-go/rest"
	fakes "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func configMap(name string, data ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"name": name}}}
	if len(data) > 0 {
		c.Data = map[string]string{data[0]: data[1]}
	}
	return c
}

// forEachClientset runs a test with both kinds of fake clientsets.
func forEachClientset(t *testing.T, test func(t *testing.T, client func(...runtime.Object) *fake.Clientset)) {
	t.Run("NewSimpleClientset", func(t *testing.T) { test(t, fake.NewSimpleClientset) })
	t.Run("NewClientset", func(t *testing.T) { test(t, fake.NewClientset) })
}

func TestCallsAreExecutedAndRecorded(t *testing.T) {
	forEachClientset(t, func(t *testing.T, newClient func(...runtime.Object) *fake.Clientset) {
		ctx := t.Context()
		c := newClient(configMap("a"), &corev1.ConfigMapList{Items: []corev1.ConfigMap{*configMap("b"), *configMap("c")}})
		maps := c.CoreV1().ConfigMaps("ns")
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "name in (a,c)"})
		require.NoError(t, err)
		require.Len(t, list.Items, 2)
		_, err = maps.Create(ctx, configMap("a"), metav1.CreateOptions{})
		require.True(t, apierrors.IsAlreadyExists(err), "%v", err)
		got, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"k":"v"}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		require.Equal(t, "v", got.Data["k"])
		require.NoError(t, maps.Delete(ctx, "b", metav1.DeleteOptions{}))
		empty, err := maps.Get(ctx, "b", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
		require.NotNil(t, empty, "an error comes with an empty object")
		_, err = c.CoreV1().ConfigMaps("other").Create(ctx, configMap("a"), metav1.CreateOptions{})
		require.Error(t, err, "the client's namespace differs from the object's namespace")

		var did []string
		for _, a := range c.Actions() {
			did = append(did, fmt.Sprintf("%s %s in %s", a.GetVerb(), a.GetResource().Resource, a.GetNamespace()))
		}
		require.Equal(t, []string{"list configmaps in ns", "create configmaps in ns", "patch configmaps in ns", "delete configmaps in ns",
			"get configmaps in ns", "create configmaps in other"}, did)
		require.Panics(t, func() { newClient(&metav1.Status{}) }, "a Status cannot be added to the tracker")
	})
}

func TestReactorsTakePrecedenceOverTheTracker(t *testing.T) {
	ctx := t.Context()
	c := fake.NewSimpleClientset(configMap("a"))
	c.PrependReactor("get", "configmaps", func(action fakes.Action) (bool, runtime.Object, error) {
		return action.(fakes.GetAction).GetName() == "x", nil, errors.New("refused")
	})
	_, err := c.CoreV1().ConfigMaps("ns").Get(ctx, "x", metav1.GetOptions{})
	require.EqualError(t, err, "refused")
	_, err = c.CoreV1().ConfigMaps("ns").Get(ctx, "a", metav1.GetOptions{})
	require.NoError(t, err)
	c.CoreV1().(*fakecorev1.FakeCoreV1).PrependReactor("*", "*", func(fakes.Action) (bool, runtime.Object, error) { return true, nil, errors.New("all") })
	_, err = c.AppsV1().Deployments("ns").List(ctx, metav1.ListOptions{})
	require.EqualError(t, err, "all", "the fakes of all groups share their reactors")

	zero := &fake.Clientset{}
	_, err = zero.CoreV1().Pods("ns").Get(ctx, "x", metav1.GetOptions{})
	require.NoError(t, err, "without a tracker and reactors, the result is an empty object")
}

func TestApplyRespectsManagedFields(t *testing.T) {
	ctx := t.Context()
	c := fake.NewClientset()
	maps := c.CoreV1().ConfigMaps("ns")
	apply := func(manager, value string, force bool) (*corev1.ConfigMap, error) {
		return maps.Apply(ctx, applycorev1.ConfigMap("a", "ns").WithData(map[string]string{"k": value}), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	got, err := apply("one", "1", false)
	require.NoError(t, err)
	require.Len(t, got.ManagedFields, 1)
	_, err = apply("two", "2", false)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	got, err = apply("two", "2", true)
	require.NoError(t, err)
	require.Equal(t, "2", got.Data["k"])
	extracted, err := applycorev1.ExtractConfigMap(got, "two")
	require.NoError(t, err)
	require.Equal(t, "2", extracted.Data["k"])

	_, err = fake.NewSimpleClientset().CoreV1().ConfigMaps("ns").Apply(ctx, applycorev1.ConfigMap("a", "ns"), metav1.ApplyOptions{FieldManager: "one"})
	require.True(t, apierrors.IsNotFound(err), "without managed fields, apply is a patch: %v", err)
}

func TestSubresources(t *testing.T) {
	ctx := t.Context()
	c := fake.NewSimpleClientset()
	deployments := c.AppsV1().Deployments("ns")
	c.PrependReactor("patch", "deployments/scale", func(action fakes.Action) (bool, runtime.Object, error) {
		require.JSONEq(t, `{"kind":"Scale","apiVersion":"autoscaling/v1","spec":{"replicas":3}}`, string(action.(fakes.PatchAction).GetPatch()))
		return true, &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 3}}, nil
	})
	scale, err := deployments.ApplyScale(ctx, "web", applyautoscalingv1.Scale().WithSpec(applyautoscalingv1.ScaleSpec().WithReplicas(3)), metav1.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	require.EqualValues(t, 3, scale.Spec.Replicas)
	_, err = deployments.ApplyScale(ctx, "web", nil, metav1.ApplyOptions{})
	require.EqualError(t, err, "scale provided to ApplyScale must not be nil")
	scale, err = deployments.GetScale(ctx, "web", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	require.NotNil(t, scale)
	_, err = deployments.UpdateStatus(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "ns"}}, metav1.UpdateOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	last := c.Actions()[len(c.Actions())-1]
	require.True(t, last.Matches("update", "deployments/status"))
}

func TestLogs(t *testing.T) {
	c := fake.NewSimpleClientset()
	logs := func() (string, error) {
		b, err := c.CoreV1().Pods("ns").GetLogs("x", &corev1.PodLogOptions{Container: "c"}).DoRaw(t.Context())
		return string(b), err
	}
	text, err := logs()
	require.NoError(t, err)
	require.Equal(t, "fake logs", text)
	require.Equal(t, "c", c.Actions()[0].(fakes.GenericAction).GetValue().(*corev1.PodLogOptions).Container)
	var result runtime.Object = &runtime.Unknown{Raw: []byte("mine")}
	var failed error
	c.PrependReactor("get", "pods/log", func(fakes.Action) (bool, runtime.Object, error) { return true, result, failed })
	text, err = logs()
	require.NoError(t, err)
	require.Equal(t, "mine", text)
	result = &corev1.Pod{}
	_, err = logs()
	require.ErrorContains(t, err, "*v1.Pod")
	failed = errors.New("no log")
	_, err = logs()
	require.ErrorIs(t, err, failed)
}

func TestDiscovery(t *testing.T) {
	c := fake.NewSimpleClientset()
	c.Resources = []*metav1.APIResourceList{{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{{Name: "deployments"}}}}
	resources, err := c.Discovery().ServerResourcesForGroupVersion("apps/v1")
	require.NoError(t, err)
	require.Equal(t, "deployments", resources.APIResources[0].Name)
	c.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{Major: "9"}
	v, err := c.Discovery().ServerVersion()
	require.NoError(t, err)
	require.Equal(t, "9", v.Major)
	none, ok := c.CoreV1().RESTClient().(*rest.RESTClient)
	require.True(t, ok)
	require.Nil(t, none)
}

func TestInformersOverAFake(t *testing.T) {
	forEachClientset(t, func(t *testing.T, newClient func(...runtime.Object) *fake.Clientset) {
		c := newClient(configMap("a"))
		require.True(t, c.IsWatchListSemanticsUnSupported())
		watching := make(chan struct{}, 1)
		c.PrependWatchReactor("*", func(action fakes.Action) (bool, watch.Interface, error) {
			changes, err := c.Tracker().Watch(action.GetResource(), action.GetNamespace(), action.(fakes.WatchActionImpl).ListOptions)
			watching <- struct{}{}
			return true, changes, err
		})
		ctx, cancel := context.WithCancel(t.Context())
		factory := informers.NewSharedInformerFactory(kubernetes.Interface(c), 0)
		defer factory.Shutdown()
		defer cancel()
		informer := factory.Core().V1().ConfigMaps()
		events := make(chan string, 10)
		_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { events <- "add " + obj.(*corev1.ConfigMap).Name },
			UpdateFunc: func(_, obj any) { events <- "update " + obj.(*corev1.ConfigMap).Name },
			DeleteFunc: func(obj any) { events <- "delete " + obj.(*corev1.ConfigMap).Name },
		})
		require.NoError(t, err)
		factory.Start(ctx.Done())
		for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
			require.True(t, synced)
		}
		<-watching
		maps := c.CoreV1().ConfigMaps("ns")
		_, err = maps.Create(ctx, configMap("b"), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = maps.Update(ctx, configMap("b", "k", "v"), metav1.UpdateOptions{})
		require.NoError(t, err)
		require.NoError(t, maps.Delete(ctx, "a", metav1.DeleteOptions{}))
		for _, want := range []string{"add a", "add b", "update b", "delete a"} {
			select {
			case got := <-events:
				require.Equal(t, want, got)
			case <-time.After(time.Minute):
				t.Fatal("no event: " + want)
			}
		}
		got, err := informer.Lister().ConfigMaps("ns").Get("b")
		require.NoError(t, err)
		require.Equal(t, "v", got.Data["k"])
	})
}

func TestAFakeIsSafeForConcurrentUse(t *testing.T) {
	forEachClientset(t, func(t *testing.T, newClient func(...runtime.Object) *fake.Clientset) {
		c := newClient()
		const workers, each = 4, 10
		var group sync.WaitGroup
		for w := range workers {
			group.Go(func() {
				ctx := t.Context()
				changes, err := c.CoreV1().ConfigMaps("").Watch(ctx, metav1.ListOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				defer changes.Stop()
				for i := range each {
					name := fmt.Sprintf("%d-%d", w, i)
					_, err1 := c.CoreV1().ConfigMaps("ns").Create(ctx, configMap(name), metav1.CreateOptions{})
					_, err2 := c.CoreV1().ConfigMaps("ns").Update(ctx, configMap(name, "k", "v"), metav1.UpdateOptions{})
					_, err3 := c.CoreV1().ConfigMaps("ns").List(ctx, metav1.ListOptions{})
					if err := errors.Join(err1, err2, err3); err != nil {
						t.Error(err)
					}
					<-changes.ResultChan()
					_ = c.Actions()
				}
			})
		}
		group.Wait()
		list, err := c.CoreV1().ConfigMaps("ns").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, workers*each)
		require.Len(t, c.Actions(), workers*(1+3*each)+1)
	})
}
