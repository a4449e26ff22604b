package codec_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/internal/codec"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ours   runtime.NegotiatedSerializer = codec.New(scheme.Scheme)
	theirs runtime.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
)

// both calls the function f twice for a media type: with the codecs of this package and with
// apimachinery's. It returns both results.
func both[T any](t *testing.T, media string, f func(of runtime.NegotiatedSerializer, info runtime.SerializerInfo) T) (our, their T) {
	our = f(ours, info(t, ours, media))
	return our, f(theirs, info(t, theirs, media))
}

func info(t *testing.T, of runtime.NegotiatedSerializer, media string) runtime.SerializerInfo {
	info, ok := runtime.SerializerInfoForMediaType(of.SupportedMediaTypes(), media)
	require.True(t, ok)
	return info
}

var mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}

// unregistered is a type that is not in any scheme.
type unregistered struct {
	metav1.TypeMeta
	metav1.ObjectMeta `protobuf:"bytes,1,opt,name=metadata"`
}

func (u *unregistered) DeepCopyObject() runtime.Object { return u }

func TestMediaTypesEqualApimachinerys(t *testing.T) {
	our, their := ours.SupportedMediaTypes(), theirs.SupportedMediaTypes()
	for i := range our {
		require.Equal(t, their[i].MediaType, our[i].MediaType)
		require.Equal(t, their[i].MediaTypeType, our[i].MediaTypeType)
		require.Equal(t, their[i].MediaTypeSubType, our[i].MediaTypeSubType)
		require.Equal(t, their[i].EncodesAsText, our[i].EncodesAsText)
		require.Equal(t, their[i].PrettySerializer == nil, our[i].PrettySerializer == nil)
		require.Equal(t, their[i].StrictSerializer == nil, our[i].StrictSerializer == nil)
		require.Equal(t, their[i].StreamSerializer == nil, our[i].StreamSerializer == nil)
	}
	require.Len(t, their, len(our))
}

func TestEncodingEqualsApimachinerys(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c", "a": ""}}, Spec: corev1.PodSpec{HostNetwork: true}}
	for name, object := range map[string]runtime.Object{
		"an object": pod, "a list": &corev1.PodList{Items: []corev1.Pod{*pod}}, "options": &metav1.DeleteOptions{DryRun: []string{"All"}},
		"a kind of its own": &corev1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}}, "an unregistered type": &unregistered{TypeMeta: metav1.TypeMeta{Kind: "K", APIVersion: "g/v"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		"raw": &runtime.Unknown{Raw: []byte("x"), ContentType: "y"},
	} {
		for _, media := range mediaTypes {
			if object.GetObjectKind().GroupVersionKind().Group == "g" && media == runtime.ContentTypeProtobuf {
				continue // the type has tags, but no method Marshal
			}
			our, their := both(t, media, func(of runtime.NegotiatedSerializer, info runtime.SerializerInfo) string {
				var b bytes.Buffer
				err := of.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(object, &b)
				return fmt.Sprintf("%q %v", b.Bytes(), err)
			})
			require.Equal(t, their, our, "%s, %s", name, media)
		}
	}
}

func TestDecodingEqualsApimachinerys(t *testing.T) {
	encoded := func(media string, object runtime.Object, kind schema.GroupVersionKind) []byte {
		object.GetObjectKind().SetGroupVersionKind(kind)
		var b bytes.Buffer
		require.NoError(t, info(t, theirs, media).Serializer.Encode(object, &b))
		return b.Bytes()
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c"}}, Status: corev1.PodStatus{Phase: "x"}}
	podKind := corev1.SchemeGroupVersion.WithKind("Pod")
	full := func() runtime.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "old", Annotations: map[string]string{"k": "v"}}}
	}
	none := func() runtime.Object { return nil }
	for _, media := range mediaTypes {
		for name, data := range map[string][]byte{
			"a pod": encoded(media, pod, podKind), "without a kind": encoded(media, pod, schema.GroupVersionKind{}),
			"without a version": encoded(media, pod, schema.GroupVersionKind{Kind: "Pod"}), "an unknown kind": encoded(media, pod, podKind.GroupVersion().WithKind("Other")),
			"an unknown version": encoded(media, pod, schema.GroupVersionKind{Group: "g", Version: "v", Kind: "Pod"}),
			"a status":           encoded(media, &metav1.Status{Message: "m"}, metav1.SchemeGroupVersion.WithKind("Status")),
			"nothing":            nil, "no protobuf": []byte("{}"), "a prefix": []byte("k8s\x00"), "cut": encoded(media, pod, podKind)[:20],
		} {
			for target, into := range map[string]func() runtime.Object{
				"none": none, "a pod": func() runtime.Object { return &corev1.Pod{} }, "a full pod": full, "a node": func() runtime.Object { return &corev1.Node{} },
				"unregistered": func() runtime.Object { return &unregistered{} }, "raw": func() runtime.Object { return &runtime.Unknown{} },
			} {
				if target == "unregistered" && media == runtime.ContentTypeProtobuf {
					continue // the type has tags, but no method Unmarshal
				}
				for _, defaults := range []*schema.GroupVersionKind{nil, &podKind, {Group: "g", Version: "v", Kind: "K"}} {
					for _, versioned := range []bool{true, false} {
						at := fmt.Sprintf("%s, %s into %s with %v, %v", media, name, target, defaults, versioned)
						type result struct {
							object runtime.Object
							kind   *schema.GroupVersionKind
							err    string
							same   bool
						}
						our, their := both(t, media, func(of runtime.NegotiatedSerializer, info runtime.SerializerInfo) (r result) {
							decoder := runtime.Decoder(info.Serializer)
							if !versioned {
								decoder = of.DecoderToVersion(decoder, nil)
							}
							var err error
							to := into()
							r.object, r.kind, err = decoder.Decode(data, defaults, to)
							r.err, r.same = errorClass(err), to != nil && r.object == to
							return r
						})
						require.Equal(t, their.err, our.err, at)
						require.Equal(t, their.kind, our.kind, at)
						require.Equal(t, their.same, our.same, at)
						require.True(t, apiequality.Semantic.DeepEqual(their.object, our.object), "%s:\n%#v\n%#v", at, their.object, our.object)
					}
				}
			}
		}
	}
}

// errorClass returns the properties of an error that programs test for.
func errorClass(err error) string {
	return fmt.Sprint(err != nil, runtime.IsNotRegisteredError(err), runtime.IsMissingKind(err), runtime.IsMissingVersion(err))
}

func TestTheFramesOfAWatch(t *testing.T) {
	for _, media := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		event := &metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}
		our, their := both(t, media, func(of runtime.NegotiatedSerializer, info runtime.SerializerInfo) string {
			var b bytes.Buffer
			w := info.StreamSerializer.Framer.NewFrameWriter(&b)
			require.NoError(t, info.StreamSerializer.Serializer.Encode(event, w))
			return b.String()
		})
		require.Equal(t, their, our)
		for _, into := range []runtime.Object{&metav1.WatchEvent{}, &runtime.Unknown{}, nil} {
			our, their := both(t, media, func(of runtime.NegotiatedSerializer, info runtime.SerializerInfo) string {
				to := into
				if into != nil {
					to = reflect.New(reflect.TypeOf(into).Elem()).Interface().(runtime.Object)
				}
				data := []byte(`{"type":"ADDED","object":{"a":"b"}}`)
				if media == runtime.ContentTypeProtobuf {
					data, _ = event.Marshal()
				}
				object, kind, err := info.StreamSerializer.Serializer.Decode(data, nil, to)
				return fmt.Sprintf("%#v %v %s", object, kind, errorClass(err))
			})
			require.Equal(t, their, our)
		}
	}
}

func TestTheDeserializerDetectsTheEncoding(t *testing.T) {
	decoder := codec.New(scheme.Scheme).Deserializer()
	for _, media := range mediaTypes {
		var b bytes.Buffer
		status := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Message: "m"}
		require.NoError(t, info(t, theirs, media).Serializer.Encode(status, &b))
		object, _, err := decoder.Decode(b.Bytes(), nil, nil)
		require.NoError(t, err)
		require.Equal(t, status, object, media)
	}
}

func TestParametersAreEncodedLikeByAScheme(t *testing.T) {
	yes := int64(3)
	for _, options := range []runtime.Object{
		&metav1.ListOptions{LabelSelector: "a=b", Limit: 5, TimeoutSeconds: &yes}, &metav1.GetOptions{ResourceVersion: "1"}, &metav1.PatchOptions{FieldManager: "f"},
		&corev1.PodLogOptions{Container: "c", TailLines: &yes}, &metav1.CreateOptions{},
	} {
		want, err := scheme.ParameterCodec.EncodeParameters(options, corev1.SchemeGroupVersion)
		require.NoError(t, err)
		got, err := codec.Parameters.EncodeParameters(options, corev1.SchemeGroupVersion)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.Error(t, codec.Parameters.DecodeParameters(nil, corev1.SchemeGroupVersion, &metav1.ListOptions{}))
}

func TestATypeWithoutProtobufTagsCannotBeEncoded(t *testing.T) {
	type embedding struct{ corev1.Pod }
	our, their := both(t, runtime.ContentTypeProtobuf, func(_ runtime.NegotiatedSerializer, info runtime.SerializerInfo) error {
		return info.Serializer.Encode(&struct{ plain }{}, &bytes.Buffer{})
	})
	require.Equal(t, apierrors.ReasonForError(their), apierrors.ReasonForError(our))
	require.EqualValues(t, "NotAcceptable", apierrors.ReasonForError(our))
	// A struct that embeds a message inherits the message's methods. apimachinery calls these
	// methods, and so encodes only a part of the object.
	require.ErrorContains(t, info(t, ours, runtime.ContentTypeProtobuf).Serializer.Encode(&embedding{}, &bytes.Buffer{}), "no field of codec_test.embedding has a protobuf tag")
}

// plain is an object without protobuf methods.
type plain struct{ kind metav1.TypeMeta }

func (p plain) GetObjectKind() schema.ObjectKind { return &p.kind }
func (p plain) DeepCopyObject() runtime.Object   { return p }
