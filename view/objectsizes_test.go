package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/internal/testing/testsize"
)

// storedInformer is an informer that has only a store.
type storedInformer[T any] struct {
	name  string
	store *indexer.Store[T]
}

func (s storedInformer[T]) Status() informer.Status   { return informer.Status{Name: s.name} }
func (s storedInformer[T]) Store() *indexer.Reader[T] { return s.store.Reader }

// addStore shows a store with these objects, by key names.
func addStore[T any](t *testing.T, v *View, objects map[string]T) {
	t.Helper()
	addNamedStore(t, v, "things", objects)
}

func addNamedStore[T any](t *testing.T, v *View, informer string, objects map[string]T) {
	t.Helper()
	store, err := indexer.New(indexer.Options[T]{})
	require.NoError(t, err)
	var all []indexer.Op[T]
	for name, o := range objects {
		all = append(all, indexer.Op[T]{Key: types.NamespacedName{Namespace: "n", Name: name}, Object: o})
	}
	_, err = store.Apply(all, "1")
	require.NoError(t, err)
	Informer(v, storedInformer[T]{informer, store})
}

// project requests the sizes of an object, like the page.
func project(t *testing.T, v *View, query url.Values) (p ObjectSizes, text string) {
	t.Helper()
	served := httptest.NewServer(v)
	defer served.Close()
	r := &rig{view: v, url: served.URL + "/"}
	code, text, _ := r.ask(t, http.MethodGet, "object?"+query.Encode(), "", nil)
	require.Equal(t, 200, code, text)
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	return p, text
}

func field(t *testing.T, p ObjectSizes, path string) Field {
	t.Helper()
	for _, f := range p.Fields {
		if f.Path == path {
			return f
		}
	}
	require.Fail(t, "no such field", "%s in %+v", path, p.Fields)
	return Field{}
}

func secretPod() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "a", Labels: map[string]string{"label-key": "label-value"}, ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "manager", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:nodeName":{}}}`)}, {Manager: "other"},
		}},
		Spec:   corev1.PodSpec{NodeName: "node-value", Containers: []corev1.Container{{Name: "c", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}}}},
		Status: corev1.PodStatus{Phase: "Running", Message: "status-value"},
	}
}

func TestAnObjectIsComparedByFields(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	whole := secretPod()
	kept := secretPod()
	kept.ManagedFields, kept.Status = nil, corev1.PodStatus{}
	addStore(t, v, map[string]*corev1.Pod{"a": kept, "b": kept})
	ServerObjects(v, "things", func(_ context.Context, key types.NamespacedName) (*corev1.Pod, error) {
		if key.Name == "b" {
			return nil, errors.New("it is <b>gone</b>")
		}
		return whole, nil
	})
	p, text := project(t, v, url.Values{"key": {"n/a"}})
	require.Equal(t, []string{"n/a", "n/b"}, p.Keys)
	require.Equal(t, "n/a", p.Key)
	require.True(t, p.FromServer)
	require.Empty(t, p.Error)
	require.Equal(t, 2, p.Objects)
	raw, err := json.Marshal(whole)
	require.NoError(t, err)
	less, err := json.Marshal(kept)
	require.NoError(t, err)
	require.Equal(t, len(raw), p.Raw)
	require.Equal(t, len(less), p.Stored)
	managed := field(t, p, "metadata.managedFields")
	require.Greater(t, managed.Raw, 60)
	require.Equal(t, Field{Path: "metadata.managedFields", Raw: managed.Raw, Entries: 2}, managed)
	require.Zero(t, field(t, p, "status.phase").Stored)
	labels := field(t, p, "metadata.labels")
	require.Equal(t, labels.Raw, labels.Stored)
	require.Equal(t, 1, labels.Entries)
	sumRaw, sumStored := 0, 0
	for _, f := range p.Fields {
		sumRaw, sumStored = sumRaw+f.Raw, sumStored+f.Stored
	}
	require.InDelta(t, p.Raw, sumRaw, 10, "the fields must be the whole object, except braces and commas")
	require.InDelta(t, p.Stored, sumStored, 10)
	require.Equal(t, 1, p.Sample.Objects, "the sample must skip the object that the server does not return")
	require.Equal(t, p.Raw, p.Sample.Raw)
	require.Equal(t, p.Stored, p.Sample.Stored)
	for _, content := range []string{"label-key", "label-value", "node-value", "PASSWORD", "hunter2", "status-value", "manager\"", "f:spec"} {
		require.NotContains(t, text, content, "the view must not send contents")
	}
	p, _ = project(t, v, url.Values{"key": {"n/b"}})
	require.Equal(t, "it is <b>gone</b>", p.Error)
	p, _ = project(t, v, url.Values{"key": {"n/c"}})
	require.Equal(t, errNotStored.Error(), p.Error)
}

// The view requests one object from the server at a time, for any number of viewers. It requests
// the sample only from time to time.
func TestServerGetsOneRequestAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // In a bubble, a slow machine causes no timeouts.
		v, err := New(Options{})
		require.NoError(t, err)
		time.Sleep(time.Second) // A sample at time 0 would count as missing.
		pods := map[string]*corev1.Pod{}
		for n := range sampledObjects {
			pods[fmt.Sprintf("pod-%02d", n)] = secretPod()
		}
		addStore(t, v, pods)
		var asked, now, most atomic.Int32
		ServerObjects(v, "things", func(context.Context, types.NamespacedName) (*corev1.Pod, error) {
			asked.Add(1)
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			runtime.Gosched()
			return secretPod(), nil
		})
		const viewers = 30
		var all sync.WaitGroup
		for range viewers {
			all.Go(func() {
				p, _ := project(t, v, url.Values{"key": {"n/pod-07"}})
				assert.Positive(t, p.Raw)
				assert.Equal(t, sampledObjects, p.Sample.Objects)
			})
		}
		all.Wait()
		require.EqualValues(t, 1, most.Load())
		require.Less(t, asked.Load(), int32(viewers+4*sampledObjects), "each viewer must cause one request, and the sample a few")
	})
}

// The sample shows the current store, even when the view makes no new requests to the server.
func TestSampleUsesTheCurrentStore(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	store, err := indexer.New(indexer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	put := func(pod *corev1.Pod) {
		t.Helper()
		_, err := store.Apply([]indexer.Op[*corev1.Pod]{{Key: types.NamespacedName{Namespace: "n", Name: "a"}, Object: pod}}, "1")
		require.NoError(t, err)
	}
	put(secretPod())
	Informer(v, storedInformer[*corev1.Pod]{"things", store})
	asked := 0
	ServerObjects(v, "things", func(context.Context, types.NamespacedName) (*corev1.Pod, error) {
		asked++
		return secretPod(), nil
	})
	whole, _ := project(t, v, nil)
	require.Equal(t, whole.Sample.Raw, whole.Sample.Stored)
	less := secretPod()
	less.ManagedFields = nil
	put(less)
	smaller, _ := project(t, v, nil)
	require.Equal(t, 3, asked, "the object must be requested twice, and the sample once")
	require.Equal(t, whole.Sample.Raw, smaller.Sample.Raw)
	require.Equal(t, smaller.Stored, smaller.Sample.Stored)
	require.Less(t, smaller.Sample.Stored, whole.Sample.Stored)
}

// If a name has control characters, a user chooses the object by the cleaned text on the page.
func TestObjectWithControlCharactersCanBeSelected(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	addNamedStore(t, v, "a\x1bb", map[string]*corev1.Pod{"a": secretPod()})
	addNamedStore(t, v, "a\x1cb", map[string]*corev1.Pod{"b": secretPod()})
	parts := v.Pipelines().Pipelines
	require.Len(t, parts, 2)
	for n, key := range []string{"n/a", "n/b"} {
		p, _ := project(t, v, url.Values{"of": {parts[n].Name}})
		require.Equal(t, key, p.Key)
	}
	hello, _, err := v.Frames(t.Context(), "a\x1bb")
	require.NoError(t, err, "Frames must accept the original name")
	require.Equal(t, parts[0].Name, hello.Name)
	_, _, err = v.Frames(t.Context(), "a\x1bc")
	require.ErrorIs(t, err, ErrUnknownPipeline)
}

// Without ServerObjects, the page shows the stored object on both sides.
func TestObjectWithoutServerVersion(t *testing.T) {
	t.Parallel()
	v, err := New(Options{Values: true})
	require.NoError(t, err)
	addStore(t, v, map[string]*corev1.Pod{"a": secretPod()})
	p, _ := project(t, v, url.Values{})
	require.Equal(t, "n/a", p.Key)
	require.False(t, p.FromServer)
	require.Equal(t, p.Raw, p.Stored)
	require.Equal(t, `"node-value"`, field(t, p, "spec.nodeName").Value)
	require.Contains(t, field(t, p, "spec.containers").Value, "PASSWORD")
}

// With any options, the view sends no value of a Secret, of a possible Secret, or of an object of
// unknown kind. It does not send the names of their data either.
func TestSecretsAreNeverSent(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Namespace: "n", Name: "a", Annotations: map[string]string{"last-applied": "hunter2"}}
	secret := &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"password": []byte("hunter2")}, StringData: map[string]string{"password": "hunter2"}, Type: "hunter2"}
	content := func(kind string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "apiVersion": "v1", "metadata": map[string]any{"name": "a", "annotations": map[string]any{"hunter2": "password"}, "hunter2": "x"},
			"data": map[string]any{"password": "hunter2"}, "not an identifier: hunter2": 1}}
	}
	type summary struct{ Password string }
	type embedding struct {
		summary
		corev1.Pod
	}
	shown := func(v *View) string {
		_, text := project(t, v, url.Values{})
		return text
	}
	for name, put := range map[string]func(*View){
		"typed":                    func(v *View) { addStore(t, v, map[string]*corev1.Secret{"a": secret}) },
		"unstructured":             func(v *View) { addStore(t, v, map[string]*unstructured.Unstructured{"a": content("Secret")}) },
		"unstructured, of no kind": func(v *View) { addStore(t, v, map[string]*unstructured.Unstructured{"a": content("")}) },
		"of a group with secrets":  func(v *View) { addStore(t, v, map[string]*unstructured.Unstructured{"a": content("SealedSecret")}) },
		"metadata": func(v *View) {
			addStore(t, v, map[string]*metav1.PartialObjectMetadata{"a": {ObjectMeta: meta}})
		},
		"a type of one's own":  func(v *View) { addStore(t, v, map[string]summary{"a": {"hunter2"}}) },
		"a map":                func(v *View) { addStore(t, v, map[string]map[string]string{"a": {"password": "hunter2"}}) },
		"one that is embedded": func(v *View) { addStore(t, v, map[string]*embedding{"a": {summary: summary{"hunter2"}}}) },
		"nothing":              func(v *View) { addStore(t, v, map[string]*corev1.Secret{"a": nil}) },
		"a secret of the server's": func(v *View) {
			addStore(t, v, map[string]summary{"a": {"hunter2"}})
			ServerObjects(v, "things", func(context.Context, types.NamespacedName) (*corev1.Secret, error) { return secret, nil })
		},
	} {
		v, err := New(Options{Values: true})
		require.NoError(t, err)
		put(v)
		text := shown(v)
		require.NotContains(t, text, "hunter2", name)
		require.NotContains(t, text, "aHVudGVyMg", name)
		require.NotContains(t, text, `"password`, name)
		require.NotContains(t, text, `.password`, name)
		require.NotContains(t, text, `"value"`, name)
		require.Contains(t, text, `"path"`, name)
	}
	v, err := New(Options{Values: true})
	require.NoError(t, err)
	addStore(t, v, map[string]*unstructured.Unstructured{"a": content("ConfigMap")})
	require.Contains(t, shown(v), "hunter2", "the values of a ConfigMap must be shown")
	require.NotContains(t, shown(v), "identifier")
}

// Objects may have types with broken methods, and values of any length.
func TestObjectsWithBrokenMarshalers(t *testing.T) {
	t.Parallel()
	for name, object := range map[string]any{"panics": panickingMarshaler{}, "a channel": make(chan int), "nil": nil, "number": 7, "text": "<b>", "list": []string{"hunter2"}} {
		v, err := New(Options{Values: true})
		require.NoError(t, err)
		addStore(t, v, map[string]any{"a": object})
		_, text := project(t, v, url.Values{})
		require.NotContains(t, text, "hunter2", name)
	}
	long := secretPod()
	long.Spec.NodeName = strings.Repeat("\u202Ex\x00", 4000)
	v, err := New(Options{Values: true})
	require.NoError(t, err)
	addStore(t, v, map[string]*corev1.Pod{"a": long})
	p, _ := project(t, v, url.Values{})
	value := field(t, p, "spec.nodeName").Value
	require.LessOrEqual(t, len(value), 3*maxShownValue)
	require.NotContains(t, value, "\u202E")
	require.NotContains(t, value, "\x00")
	require.Greater(t, field(t, p, "spec.nodeName").Raw, 12000)
}

type panickingMarshaler struct{ Name string }

func (panickingMarshaler) MarshalJSON() ([]byte, error) { panic("hunter2?") }

func TestInvalidObjectQueries(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, 3, nil)
	code, _, _ := r.ask(t, http.MethodGet, "object?of=nothing", "", nil)
	require.Equal(t, 404, code)
	code, _, _ = r.ask(t, http.MethodGet, "object", "", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") })
	require.Equal(t, 403, code)
	code, text, _ := r.ask(t, http.MethodGet, "object?of=pods", "", nil)
	require.Equal(t, 200, code)
	require.Contains(t, text, `"path":"spec.containers"`)
	require.NotContains(t, text, `"value"`)
}

// Frames show how long a stage has been behind the server.
func TestLag(t *testing.T) {
	t.Parallel()
	var b lagTracker
	_, known := b.lag("5", 0)
	require.False(t, known)
	for n, version := range []string{"5", "5", "7", "6", "x", "9"} {
		b.record(version, time.Duration(n)*time.Second)
	}
	for version, want := range map[string]float64{"9": 0, "10": 0, "8": 1, "7": 1, "6": 4, "5": 4, "4": 6} {
		got, known := b.lag(version, 6*time.Second)
		require.True(t, known)
		require.InDelta(t, want, got, 1e-9, version)
	}
	_, known = b.lag("x", 0)
	require.False(t, known)
	for n := range 5 * maxArrivals {
		b.record(strconv.Itoa(100+n), 10*time.Second)
	}
	require.LessOrEqual(t, len(b.arrivals), maxArrivals)
}

// Other users may create an untyped object with as many fields as the server accepts.
func TestObjectsWithManyFields(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "Thing", "apiVersion": "v1"}}
	for n := range testsize.Scale(100_000, 20_000) {
		o.Object[fmt.Sprintf("f%06d", n)] = int64(0)
	}
	addStore(t, v, map[string]*unstructured.Unstructured{"a": o})
	p, text := project(t, v, nil)
	require.Len(t, p.Fields, maxFields+1)
	require.Less(t, len(text), 100_000)
	sum := 0
	for _, f := range p.Fields {
		sum += f.Stored
	}
	require.InDelta(t, p.Stored, sum, 3, "each byte must be counted, except the braces")
}

// A store iterates over its objects in the order of arrival, and a list mostly has one namespace
// after another. The sample has objects from all of the store.
func TestSampleIsSpreadOverTheStore(t *testing.T) {
	t.Parallel()
	for _, objects := range []int{1, 20, 21, 59, 60, 61, 90, 119, 120, 1000} {
		v, err := New(Options{})
		require.NoError(t, err)
		store, err := indexer.New(indexer.Options[*corev1.ConfigMap]{})
		require.NoError(t, err)
		var all []indexer.Op[*corev1.ConfigMap]
		for n := range objects {
			o := &corev1.ConfigMap{}
			if n >= objects/2 {
				o.Annotations = map[string]string{"large": strings.Repeat("x", 10_000)}
			}
			all = append(all, indexer.Op[*corev1.ConfigMap]{Key: types.NamespacedName{Namespace: "n", Name: strconv.Itoa(n)}, Object: o})
		}
		_, err = store.Apply(all, "1")
		require.NoError(t, err)
		Informer(v, storedInformer[*corev1.ConfigMap]{"things", store})
		p, _ := project(t, v, nil)
		require.Len(t, p.Keys, min(objects, maxShownObjects))
		require.Equal(t, min(objects, sampledObjects), p.Sample.Objects)
		large := float64(p.Sample.Stored / 10_000)
		require.InDelta(t, float64(p.Sample.Objects)/2, large, 1, "%d objects", objects)
	}
}
