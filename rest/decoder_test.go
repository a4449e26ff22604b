package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
	"github.com/kinform/kinform/rest/sharing"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// ownPod has a method that decodes protobuf in another way than its tags.
type ownPod struct {
	metav1.ObjectMeta `json:"metadata" protobuf:"bytes,1,opt,name=metadata"`
	DecodedBy         string `json:"-"`
}

func (p *ownPod) Unmarshal(data []byte) error {
	var pod corev1.Pod
	err := pod.Unmarshal(data)
	p.ObjectMeta, p.DecodedBy = pod.ObjectMeta, "by its own method"
	return err
}

// ownBoth has methods that decode both encodings.
type ownBoth struct{ ownPod }

func (p *ownBoth) UnmarshalJSON(data []byte) error {
	var pod corev1.Pod
	err := json.Unmarshal(data, &pod)
	p.ObjectMeta, p.DecodedBy = pod.ObjectMeta, "by its own method"
	return err
}

type plainStruct struct {
	Metadata struct{ Name, Namespace string }
	Spec     map[string]any
}

// listed reads a list of pods, and returns the objects. lookups is how often the Client's Decoder
// was called.
func listed[T any](t *testing.T, make func(c *Client) *Resource[T], e Encoding, items ...corev1.Pod) (objects []T, skipped []*listwatch.ObjectError, lookups int) {
	t.Helper()
	client := &Client{}
	r := make(client)
	stream := r.readList(offline(t.Context(), bytes.NewReader(podList(t, e, "1", items...))), e, nil)
	defer stream.Close()
	for {
		item, err := stream.Next()
		if err == io.EOF {
			break
		}
		if failed, ok := err.(*listwatch.ObjectError); ok {
			skipped = append(skipped, failed)
			continue
		}
		require.NoError(t, err)
		objects = append(objects, item.Object)
	}
	if client.tables.Sharing != nil {
		lookups = client.tables.Sharing.Stats().Fields
	}
	return objects, skipped, lookups
}

func protobufResource[T Message](opts ResourceOptions) func(c *Client) *Resource[T] {
	return func(c *Client) *Resource[T] { return Must(NewResource[T](c, podsGVR, opts)) }
}

func jsonResource[T any](opts ResourceOptions) func(c *Client) *Resource[T] {
	return func(c *Client) *Resource[T] { return Must(NewJSONResource[T](c, podsGVR, opts)) }
}

// equalByDefault compares pods listed with default options and with Unshared. It reports whether
// the default called the Client's Decoder.
func equalByDefault[T any](t *testing.T, e Encoding, how func(ResourceOptions) func(c *Client) *Resource[T], opts ResourceOptions) bool {
	t.Helper()
	pods := plainPods(3)
	opts.Kind = "Pod"
	byDefault, skipped, fields := listed(t, how(opts), e, pods...)
	require.Empty(t, skipped)
	require.Len(t, byDefault, len(pods))
	opts.Unshared = true
	unshared, skipped, none := listed(t, how(opts), e, pods...)
	require.Empty(t, skipped)
	require.Zero(t, none)
	require.Equal(t, unshared, byDefault)
	return fields > 0
}

// TestDefaultDecoderEqualsUnsharedDecoder: the Client's Decoder is used only for types that
// it decodes with the same result. All other types are decoded by their own methods.
func TestDefaultDecoderEqualsUnsharedDecoder(t *testing.T) {
	t.Parallel()
	drop := ResourceOptions{Project: Omit{ManagedFields: true, Status: true}}
	for _, e := range encodings {
		require.True(t, equalByDefault(t, e, protobufResource[*corev1.Pod], ResourceOptions{}), e)
		require.True(t, equalByDefault(t, e, protobufResource[*corev1.Pod], drop), e)
		require.True(t, equalByDefault(t, e, protobufResource[*metav1.PartialObjectMetadata], ResourceOptions{}), e)
		require.Equal(t, e == JSON, equalByDefault(t, e, protobufResource[*ownPod], ResourceOptions{}), e)
		require.False(t, equalByDefault(t, e, protobufResource[*ownBoth], ResourceOptions{}), e)
	}
	require.True(t, equalByDefault(t, JSON, jsonResource[*corev1.Pod], ResourceOptions{}))
	require.True(t, equalByDefault(t, JSON, jsonResource[*unstructured.Unstructured], ResourceOptions{}))
	require.True(t, equalByDefault(t, JSON, jsonResource[*unstructured.Unstructured], drop))
	require.True(t, equalByDefault(t, JSON, jsonResource[*plainStruct], ResourceOptions{}))
	require.False(t, equalByDefault(t, JSON, jsonResource[plainStruct], ResourceOptions{}), "a type that is not a pointer must not use the Client's Decoder")
	require.False(t, equalByDefault(t, JSON, jsonResource[map[string]any], ResourceOptions{}))
	require.False(t, equalByDefault(t, JSON, jsonResource[any], ResourceOptions{}))
	require.False(t, equalByDefault(t, JSON, jsonResource[json.RawMessage], ResourceOptions{}))
}

// TestJSONResourceRequestsProtobufOnlyIfConfigured: neither the tags of a type nor the abilities
// of a Decoder change the requested encoding.
func TestJSONResourceRequestsProtobufOnlyIfConfigured(t *testing.T) {
	t.Parallel()
	shared := sharing.New(sharing.Options{})
	for _, test := range []struct {
		opts     ResourceOptions
		protobuf bool
		err      string
	}{
		{ResourceOptions{}, false, ""},
		{ResourceOptions{Decoder: shared}, false, ""},
		{ResourceOptions{Decoder: shared, Encoding: Protobuf}, true, ""},
		{ResourceOptions{Encoding: Protobuf}, false, "or a Decoder"},
		{ResourceOptions{Encoding: Protobuf, Unshared: true}, false, "or a Decoder"},
		{ResourceOptions{Decoder: shared, Unshared: true}, false, "set one of them"},
	} {
		r, err := NewJSONResource[*corev1.Pod](&Client{}, podsGVR, test.opts)
		if test.err != "" {
			require.ErrorContains(t, err, test.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.protobuf, r.items.Shared.Protobuf(), "%+v", test.opts)
	}
}

// TestResourcesOfAClientShareOneDecoder: equal parts of objects of two resources are in memory
// once. A client that only calls verbs has no table.
func TestResourcesOfAClientShareOneDecoder(t *testing.T) {
	t.Parallel()
	pod := plainPods(1)[0]
	pod.OwnerReferences = []metav1.OwnerReference{{Name: "a"}, {Name: "b"}}
	var objects []metav1.Object
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType(Protobuf))
		_, _ = w.Write(podList(t, Protobuf, "1", pod, pod))
	}), Options{})
	require.Nil(t, client.tables.Sharing)
	for range 2 {
		stream, err := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{})).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		items, skipped, err := drainList(stream)
		require.Equal(t, io.EOF, err)
		require.Empty(t, skipped)
		require.NoError(t, stream.Close())
		for _, item := range items {
			objects = append(objects, item.Object)
		}
	}
	require.Same(t, &objects[1].GetOwnerReferences()[0], &objects[3].GetOwnerReferences()[0])
}

// TestOwnedObjectsShareNothing also tests a user's sharing.Decoder.
func TestOwnedObjectsShareNothing(t *testing.T) {
	t.Parallel()
	pods := plainPods(3)
	for i := range pods {
		pods[i].Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
	}
	for _, e := range encodings {
		for _, owned := range []bool{false, true} {
			for _, decoder := range []Decoder{nil, sharing.New(sharing.Options{})} {
				t.Run(fmt.Sprint(e, owned, decoder != nil), func(t *testing.T) {
					shares := !owned
					client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Content-Type", contentType(e))
						if !r.URL.Query().Has("watch") {
							_, _ = w.Write(podList(t, e, "1", pods...))
							return
						}
						for i := range pods {
							_, _ = w.Write(event(t, e, "MODIFIED", "Pod", &pods[i]))
						}
					}), Options{})
					r := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Decoder: decoder}))
					list, err := r.List(t.Context(), listwatch.ListOptions{Owned: owned})
					require.NoError(t, err)
					items, _, err := drainList(list)
					require.Equal(t, io.EOF, err)
					require.NoError(t, list.Close())
					require.Len(t, items, 3)
					require.Equal(t, shares, items[1].Object.Spec.Affinity == items[2].Object.Spec.Affinity)
					watch, err := r.Watch(t.Context(), listwatch.WatchOptions{Owned: owned, Held: func(types.NamespacedName) any {
						require.False(t, owned, "the client must not call Held if objects are owned")
						return items[0].Object
					}})
					require.NoError(t, err)
					events, _, err := drainWatch(watch)
					require.Equal(t, io.EOF, err)
					require.NoError(t, watch.Close())
					require.Len(t, events, 3)
					require.Equal(t, shares, events[1].Object.Spec.Affinity == items[2].Object.Spec.Affinity)
				})
			}
		}
	}
}

// TestUnstructuredPodsOfAListShareImmutableParts: from the kind of the list, the decoder knows that
// its items are pods.
func TestUnstructuredPodsOfAListShareImmutableParts(t *testing.T) {
	t.Parallel()
	for kind, shares := range map[string]bool{"PodList": true, "PodTemplateList": false} {
		resource := Must(NewJSONResource[*unstructured.Unstructured](&Client{}, podsGVR, ResourceOptions{
			Decoder: sharing.New(sharing.Options{Share: sharing.Immutable}),
		}))
		var probes []any
		for range 6 {
			body := []byte(`{"metadata":{"name":"p","resourceVersion":"1"},"spec":{"containers":[{"livenessProbe":{"httpGet":{"path":"/"}}}]}}`)
			item, err := resource.decodeItem(offline(t.Context(), strings.NewReader("")), JSON, wire.Frame{Data: body},
				&wire.Envelope{Kind: kind, APIVersion: "v1"}, nil, nil)
			require.NoError(t, err)
			require.Equal(t, strings.TrimSuffix(kind, "List"), item.Object.GetKind())
			containers, _, err := unstructured.NestedFieldNoCopy(item.Object.Object, "spec", "containers")
			require.NoError(t, err)
			probes = append(probes, containers.([]any)[0].(map[string]any)["livenessProbe"])
		}
		require.Equal(t, shares, mutation.CheckUnshared(probes[4:]...) != nil, kind)
	}
}
