package rest

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// manyPods returns a list of pods with many equal parts.
func manyPods(n int) *corev1.PodList {
	left := int64(7)
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: &left}}
	for i := range n {
		list.Items = append(list.Items, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", i), Namespace: "default", Labels: map[string]string{"app": "web"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "registry.example/image/of/all:v1"}}},
		})
	}
	return list
}

// A decoded list has the same objects as with the program's codec. No two objects share a part that
// a program could change.
func TestListsDecodeLikeTheProgramsCodec(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	codecs := serializer.NewCodecFactory(scheme)
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
		require.True(t, ok)
		body, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion), manyPods(600))
		require.NoError(t, err)
		for name, decoder := range map[string]runtime.Decoder{
			"with kinds": info.Serializer, "without": runtime.WithoutVersionDecoder{Decoder: info.Serializer},
		} {
			t.Run(mediaType+" "+name, func(t *testing.T) {
				want, got := &corev1.PodList{}, &corev1.PodList{}
				_, _, err := decoder.Decode(body, nil, want)
				require.NoError(t, err)
				require.True(t, intoList(body, mediaType, decoder, got, ShareByDefault))
				require.Equal(t, want, got)
				last, before := got.Items[599], got.Items[598]
				require.Same(t, unsafe.StringData(before.Spec.Containers[0].Image), unsafe.StringData(last.Spec.Containers[0].Image))
				last.Labels["mine"] = "yes"
				last.Spec.Containers[0].Image = "mine"
				require.NotContains(t, before.Labels, "mine")
				require.NotEqual(t, "mine", before.Spec.Containers[0].Image)
			})
		}
	}
}

// The program's codec decodes unusual lists.
func TestUnusualListsAreDecodedByTheProgramsCodec(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, corev1.AddToScheme(scheme))
	info, _ := runtime.SerializerInfoForMediaType(serializer.NewCodecFactory(scheme).SupportedMediaTypes(), runtime.ContentTypeJSON)
	const pods = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"}}]}`
	for name, odd := range map[string]struct {
		body    string
		decoder runtime.Decoder
		list    runtime.Object
	}{
		"a failure":           {`{"kind":"Status","apiVersion":"v1","status":"Failure","items":[]}`, info.Serializer, &corev1.PodList{}},
		"another kind":        {pods, info.Serializer, &corev1.SecretList{}},
		"no items":            {`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`, info.Serializer, &corev1.PodList{}},
		"an object":           {pods, info.Serializer, &corev1.Pod{}},
		"a list with content": {pods, info.Serializer, manyPods(1)},
		"a strict codec":      {pods, info.StrictSerializer, &corev1.PodList{}},
		"a broken body":       {pods[:len(pods)-4], info.Serializer, &corev1.PodList{}},
		"a bad item":          {`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":7}}]}`, info.Serializer, &corev1.PodList{}},
	} {
		before := odd.list.DeepCopyObject()
		require.False(t, intoList([]byte(odd.body), "application/json", odd.decoder, odd.list, ShareByDefault), name)
		require.Equal(t, before, odd.list, name)
	}
}
