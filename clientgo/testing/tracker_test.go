//go:build !kinform_no_openapi

package testing_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	core "k8s.io/client-go/testing"
)

var (
	pods   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	podGVK = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	scheme = func() *runtime.Scheme {
		s := runtime.NewScheme()
		if err := corev1.AddToScheme(s); err != nil {
			panic(err)
		}
		return s
	}()
	decoder = serializer.NewCodecFactory(scheme).UniversalDecoder()
)

func pod(ns, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
}

func labelled(ns, name string, labels map[string]string) *corev1.Pod {
	p := pod(ns, name)
	p.Labels = labels
	return p
}

// names returns the pods of a list as namespace/name.
func names(t *testing.T, list runtime.Object) (found []string) {
	t.Helper()
	for _, p := range list.(*corev1.PodList).Items {
		found = append(found, p.Namespace+"/"+p.Name)
	}
	return found
}

func TestATrackerStoresCopies(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	p := labelled("a", "x", map[string]string{"l": "1"})
	require.NoError(t, tracker.Add(p))
	p.Labels["l"] = "modified"
	got, err := tracker.Get(pods, "a", "x")
	require.NoError(t, err)
	require.Equal(t, "1", got.(*corev1.Pod).Labels["l"])
	got.(*corev1.Pod).Labels["l"] = "modified"
	got, err = tracker.Get(pods, "a", "x")
	require.NoError(t, err)
	require.Equal(t, "1", got.(*corev1.Pod).Labels["l"])
}

func TestATrackerRefusesInvalidWrites(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	require.NoError(t, tracker.Add(&corev1.PodList{Items: []corev1.Pod{*pod("a", "x"), *pod("b", "y")}}))
	require.True(t, apierrors.IsAlreadyExists(tracker.Create(pods, pod("a", "x"), "a")))
	require.True(t, apierrors.IsNotFound(tracker.Update(pods, pod("a", "none"), "a")))
	require.True(t, apierrors.IsNotFound(tracker.Patch(pods, pod("a", "none"), "a")))
	require.True(t, apierrors.IsNotFound(tracker.Apply(pods, pod("a", "none"), "a")))
	require.True(t, apierrors.IsNotFound(tracker.Delete(pods, "a", "none")))
	_, err := tracker.Get(pods, "b", "x")
	require.EqualError(t, err, `pods "x" not found`)
	err = tracker.Create(pods, pod("b", "z"), "a")
	require.True(t, apierrors.IsBadRequest(err))
	require.EqualError(t, err, `request namespace does not match object namespace, request: "a" object: "b"`)
	require.Error(t, tracker.Add(&metav1.Status{}))
	require.Error(t, tracker.Add(nil))
	_, err = tracker.Get(pods, "a", "x", metav1.GetOptions{}, metav1.GetOptions{})
	require.EqualError(t, err, "expected only one option argument but got 2")
}

// A watch continues from the version of a list. No change between the list and the watch is missing
// or comes twice.
func TestAWatchContinuesFromTheVersionOfAList(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	require.NoError(t, tracker.Add(pod("b", "1")))
	require.NoError(t, tracker.Add(pod("a", "2")))
	list, err := tracker.List(pods, podGVK, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a/2", "b/1"}, names(t, list))
	version := list.(*corev1.PodList).ResourceVersion
	require.Equal(t, "3", version, "the version before the first write is 1")

	require.NoError(t, tracker.Update(pods, pod("b", "1"), "b"))
	require.NoError(t, tracker.Add(pod("a", "3")))
	for _, c := range []struct {
		ns   string
		opts []metav1.ListOptions
		want []string
	}{
		{"", []metav1.ListOptions{{ResourceVersion: version}}, []string{"a/3", "b/1"}},
		{"b", []metav1.ListOptions{{ResourceVersion: version}}, []string{"b/1"}},
		{"", []metav1.ListOptions{{}}, []string{"a/2", "a/3", "b/1"}},
		{"", nil, nil},
	} {
		w, err := tracker.Watch(pods, c.ns, c.opts...)
		require.NoError(t, err)
		w.Stop()
		var got []string
		for event := range w.ResultChan() {
			require.Equal(t, watch.Added, event.Type)
			got = append(got, event.Object.(*corev1.Pod).Namespace+"/"+event.Object.(*corev1.Pod).Name)
		}
		require.Equal(t, c.want, got, "%+v", c)
	}
	_, err = tracker.Watch(pods, "", metav1.ListOptions{ResourceVersion: "latest"})
	require.ErrorContains(t, err, `invalid ResourceVersion "latest"`)
}

// A watch from the version of a list reports the deletions since the list. There is one Deleted
// event for each deleted object of the list, and none for other objects.
func TestAWatchReportsDeletionsSinceTheList(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	require.NoError(t, tracker.Add(pod("a", "stays")))
	require.NoError(t, tracker.Add(pod("a", "goes")))
	require.NoError(t, tracker.Add(pod("b", "returns")))
	list, err := tracker.List(pods, podGVK, "")
	require.NoError(t, err)
	before := list.(*corev1.PodList).ResourceVersion
	require.NoError(t, tracker.Update(pods, labelled("a", "goes", map[string]string{"last": "state"}), "a"))
	require.NoError(t, tracker.Delete(pods, "a", "goes"))
	require.NoError(t, tracker.Delete(pods, "b", "returns"))
	require.NoError(t, tracker.Add(pod("b", "returns")))
	require.NoError(t, tracker.Add(pod("a", "between")))
	require.NoError(t, tracker.Delete(pods, "a", "between"))
	list, err = tracker.List(pods, podGVK, "")
	require.NoError(t, err)
	require.NotEqual(t, before, list.(*corev1.PodList).ResourceVersion)
	for _, c := range []struct {
		ns, version string
		want        []string
	}{
		{"", before, []string{"DELETED a/goes", "DELETED b/returns", "ADDED b/returns"}},
		{"a", before, []string{"DELETED a/goes"}},
		{"c", before, nil},
		{"", list.(*corev1.PodList).ResourceVersion, nil},
		{"", "", []string{"ADDED a/stays", "ADDED b/returns"}},
	} {
		w, err := tracker.Watch(pods, c.ns, metav1.ListOptions{ResourceVersion: c.version})
		require.NoError(t, err)
		w.Stop()
		var got []string
		for event := range w.ResultChan() {
			p := event.Object.(*corev1.Pod)
			got = append(got, fmt.Sprintf("%s %s/%s", event.Type, p.Namespace, p.Name))
			if p.Name == "goes" {
				require.Equal(t, "state", p.Labels["last"])
			}
		}
		require.Equal(t, c.want, got, "%+v", c)
	}
}

// client-go's tracker panics if 100 events were not read (channel full). This tracker loses no
// event, and no write blocks.
func TestAnUnreadWatchDoesNotBlockTheTracker(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	w, err := tracker.Watch(pods, "a")
	require.NoError(t, err)
	abandoned, err := tracker.Watch(pods, "a")
	require.NoError(t, err)
	const count = 350
	for i := range count {
		require.NoError(t, tracker.Add(pod("a", fmt.Sprint(i))))
	}
	for i := range count {
		require.Equal(t, fmt.Sprint(i), (<-w.ResultChan()).Object.(*corev1.Pod).Name)
	}
	require.NoError(t, tracker.Delete(pods, "a", "0"))
	require.Equal(t, watch.Deleted, (<-w.ResultChan()).Type)
	w.Stop()
	w.Stop()
	_, open := <-w.ResultChan()
	require.False(t, open)
	abandoned.Stop() // also ends the goroutine, which goleak checks
	require.NoError(t, tracker.Add(pod("a", "after")))
}

func managed() core.ObjectTracker {
	return core.NewFieldManagedObjectTracker(scheme, decoder, managedfields.NewDeducedTypeConverter())
}

func TestAnApplyRespectsFieldOwnership(t *testing.T) {
	react := core.ObjectReaction(managed())
	apply := func(manager string, force bool, patch string) (*corev1.Pod, error) {
		_, obj, err := react(core.NewPatchActionWithOptions(pods, "a", "x", types.ApplyYAMLPatchType, []byte(patch),
			metav1.PatchOptions{FieldManager: manager, Force: &force}))
		if err != nil {
			return nil, err
		}
		return obj.(*corev1.Pod), nil
	}
	one := `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"l":"1"}}}`
	two := `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"l":"2"}}}`
	p, err := apply("one", false, one)
	require.NoError(t, err, "an apply creates the object")
	require.Equal(t, "1", p.Labels["l"])
	require.Equal(t, "one", p.ManagedFields[0].Manager)
	_, err = apply("two", false, two)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	p, err = apply("two", true, two)
	require.NoError(t, err)
	require.Equal(t, "2", p.Labels["l"])
	_, obj, err := react(core.NewUpdateAction(pods, "a", labelled("a", "x", map[string]string{"l": "3"})))
	require.NoError(t, err)
	fields := obj.(*corev1.Pod).ManagedFields
	require.Equal(t, "unknown", fields[len(fields)-1].Manager)
	_, _, err = react(core.NewCreateAction(schema.GroupVersionResource{Version: "v1", Resource: "nothings"}, "a", pod("a", "y")))
	require.ErrorContains(t, err, "no matches for /v1, Resource=nothings")
}

func TestObjectReactionOfATracker(t *testing.T) {
	tracker := core.NewObjectTracker(scheme, decoder)
	require.NoError(t, tracker.Add(labelled("a", "x", map[string]string{"l": "1"})))
	react := core.ObjectReaction(tracker)
	for _, c := range []struct {
		kind  types.PatchType
		patch string
		want  map[string]string
	}{
		{types.MergePatchType, `{"metadata":{"labels":{"l":null,"m":"2"}}}`, map[string]string{"m": "2"}},
		{types.StrategicMergePatchType, `{"metadata":{"labels":{"s":"3"}}}`, map[string]string{"m": "2", "s": "3"}},
		{types.JSONPatchType, `[{"op":"remove","path":"/metadata/labels/m"}]`, map[string]string{"s": "3"}},
		{types.ApplyYAMLPatchType, "metadata: {labels: {a: \"4\"}}", map[string]string{"s": "3", "a": "4"}},
	} {
		handled, obj, err := react(core.NewPatchAction(pods, "a", "x", c.kind, []byte(c.patch)))
		require.NoError(t, err, c.kind)
		require.True(t, handled)
		require.Equal(t, c.want, obj.(*corev1.Pod).Labels, c.kind)
	}
	handled, _, err := react(core.NewPatchAction(pods, "a", "x", types.ApplyCBORPatchType, nil))
	require.True(t, handled)
	require.EqualError(t, err, "PatchType application/apply-patch+cbor is not supported")

	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "a"}}
	handled, obj, err := react(core.NewCreateSubresourceAction(pods, "x", "binding", "a", binding))
	require.NoError(t, err)
	require.True(t, handled)
	require.Same(t, binding, obj)
	_, obj, err = react(core.NewGetAction(pods, "a", "x"))
	require.NoError(t, err)
	require.IsType(t, &corev1.Pod{}, obj, "the pod is unchanged")

	handled, _, err = react(core.NewDeleteCollectionAction(pods, "a", metav1.ListOptions{}))
	require.False(t, handled)
	require.Error(t, err)
	handled, _, err = react(core.NewDeleteAction(pods, "a", "x"))
	require.NoError(t, err)
	require.True(t, handled)
}

func TestAFakeCallsItsReactorsInOrder(t *testing.T) {
	fake := &core.Fake{}
	var asked []string
	reaction := func(name string, handled bool) core.ReactionFunc {
		return func(action core.Action) (bool, runtime.Object, error) {
			asked = append(asked, name)
			// later reactors see the change, but the recorded action does not have it
			action.(core.CreateActionImpl).Object.(*corev1.Pod).Name += name
			return handled, action.(core.CreateActionImpl).Object, errors.New(name)
		}
	}
	fake.AddReactor("create", "pods", reaction("b", false))
	fake.AddReactor("*", "*", reaction("c", true))
	fake.AddReactor("*", "*", reaction("never", true))
	fake.PrependReactor("create", "pods/status", reaction("other", true))
	fake.PrependReactor("create", "pods", reaction("a", false))
	obj, err := fake.Invokes(core.NewCreateAction(pods, "ns", pod("ns", "")), nil)
	require.EqualError(t, err, "c")
	require.Equal(t, "abc", obj.(*corev1.Pod).Name)
	require.Equal(t, []string{"a", "b", "c"}, asked)
	require.Len(t, fake.Actions(), 1)
	require.Empty(t, fake.Actions()[0].(core.CreateAction).GetObject().(*corev1.Pod).Name)
	require.True(t, fake.Actions()[0].Matches("create", "pods"))
	fake.ClearActions()
	require.Empty(t, fake.Actions())

	_, err = fake.InvokesWatch(core.NewWatchAction(pods, "ns", metav1.ListOptions{}))
	require.ErrorContains(t, err, "unhandled watch")
	w := watch.NewFake()
	fake.AddWatchReactor("pods", core.DefaultWatchReactor(w, nil))
	got, err := fake.InvokesWatch(core.NewWatchAction(pods, "ns", metav1.ListOptions{}))
	require.NoError(t, err)
	require.Same(t, w, got)
	require.Nil(t, fake.InvokesProxy(core.NewProxyGetAction(pods, "ns", "http", "x", "80", "/", nil)))
}

func TestASelectorThatCannotBeParsedPanics(t *testing.T) {
	for _, opts := range []any{nil, &metav1.ListOptions{}, metav1.ListOptions{LabelSelector: "=,="}, metav1.ListOptions{FieldSelector: "a"}} {
		require.Panics(t, func() { core.ExtractFromListOptions(opts) }, "%v", opts)
	}
}

func TestAManagedTrackerUpdatesTheGivenObject(t *testing.T) {
	tracker := core.NewFieldManagedObjectTracker(scheme, decoder, managedfields.NewDeducedTypeConverter())
	managers := func(p *corev1.Pod) (names []string) {
		for _, f := range p.ManagedFields {
			names = append(names, f.Manager)
		}
		return names
	}
	p := pod("a", "x")
	p.Labels = map[string]string{"k": "1"}
	require.NoError(t, tracker.Create(pods, p, "a", metav1.CreateOptions{FieldManager: "creates"}))
	require.Equal(t, []string{"creates"}, managers(p))
	require.Equal(t, "Pod", p.Kind)
	p = pod("a", "x")
	require.True(t, apierrors.IsAlreadyExists(tracker.Create(pods, p, "a", metav1.CreateOptions{FieldManager: "again"})))
	require.Empty(t, p.ManagedFields)
	p = pod("a", "x")
	p.Labels = map[string]string{"k": "1", "l": "2"}
	require.NoError(t, tracker.Update(pods, p, "a", metav1.UpdateOptions{FieldManager: "updates"}))
	require.Contains(t, managers(p), "updates")
	p = pod("a", "x")
	p.Labels = map[string]string{"k": "1", "l": "2", "m": "3"}
	require.NoError(t, tracker.Patch(pods, p, "a", metav1.PatchOptions{FieldManager: "patches"}))
	require.Contains(t, managers(p), "patches")
}

// wrappedTracker is a program's tracker that wraps a tracker of this package, as in
// controller-runtime.
type wrappedTracker struct{ core.ObjectTracker }

func TestAnApplyCallsTheTrackersApply(t *testing.T) {
	tracker := wrappedTracker{core.NewFieldManagedObjectTracker(scheme, decoder, managedfields.NewDeducedTypeConverter())}
	action := core.NewPatchActionWithOptions(pods, "a", "x", types.ApplyYAMLPatchType,
		[]byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"other"}}`), metav1.PatchOptions{FieldManager: "me"})
	_, obj, err := core.ObjectReaction(tracker)(action)
	require.NoError(t, err)
	require.Equal(t, "x", obj.(*corev1.Pod).Name)
	_, _, err = core.ObjectReaction(core.NewObjectTracker(scheme, decoder))(action)
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

// finalizingTracker is a tracker that deletes an object when it is patched. Trackers of programs
// delete an object if a patch removes the last finalizer.
type finalizingTracker struct{ core.ObjectTracker }

func (f finalizingTracker) Patch(gvr schema.GroupVersionResource, obj runtime.Object, ns string, _ ...metav1.PatchOptions) error {
	return f.Delete(gvr, ns, obj.(*corev1.Pod).Name)
}

func TestAPatchThatDeletesAnObjectReturnsIt(t *testing.T) {
	tracker := finalizingTracker{core.NewObjectTracker(scheme, decoder)}
	require.NoError(t, tracker.Add(pod("a", "x")))
	_, obj, err := core.ObjectReaction(tracker)(core.NewPatchAction(pods, "a", "x", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
	require.NoError(t, err)
	require.Equal(t, "b", obj.(*corev1.Pod).Labels["a"])
}

func TestActionsRecordTheSameOptionsAsClientGo(t *testing.T) {
	opts := metav1.ListOptions{LabelSelector: "b = 1, a=2", ResourceVersion: "0", Limit: 3}
	parsed := metav1.ListOptions{LabelSelector: "a=2,b=1"}
	require.Equal(t, parsed, core.NewListAction(pods, podGVK, "a", opts).ListOptions)
	require.Equal(t, parsed, core.NewRootListAction(pods, podGVK, opts).ListOptions)
	require.Equal(t, parsed, core.NewRootListActionWithOptions(pods, podGVK, opts).ListOptions)
	require.Equal(t, opts, core.NewListActionWithOptions(pods, podGVK, "a", opts).ListOptions)
	require.Equal(t, opts, core.NewDeleteCollectionAction(pods, "a", opts).ListOptions)
	require.Equal(t, opts, core.NewRootDeleteCollectionAction(pods, opts).ListOptions)

	require.Equal(t, core.NewWatchAction(pods, "a", metav1.ListOptions{}), core.NewWatchAction(pods, "a", nil))
	require.Equal(t, core.NewRootWatchAction(pods, metav1.ListOptions{}), core.NewRootWatchAction(pods, nil))
	require.Equal(t, core.NewDeleteCollectionAction(pods, "a", metav1.ListOptions{}), core.NewDeleteCollectionAction(pods, "a", nil))
	require.Panics(t, func() { core.NewListAction(pods, podGVK, "a", nil) })
}
