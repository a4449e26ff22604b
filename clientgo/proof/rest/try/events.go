package main

import (
	"bytes"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// failingEncoder writes a part of the output, and then returns an error.
type failingEncoder struct{ runtime.Encoder }

func (f failingEncoder) Encode(_ runtime.Object, w io.Writer) error {
	_, _ = io.WriteString(w, "part")
	return errProgram
}

// events is a decoder and an encoder of events with prepared behavior.
type events struct {
	into  func(*metav1.WatchEvent)
	other runtime.Object
	err   error
}

func (e *events) Decode(_ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	count("decode %T", into)
	if e.into != nil {
		e.into(into.(*metav1.WatchEvent))
	}
	if e.other != nil {
		into = e.other
	}
	return into, nil, e.err
}

func (e *events) Encode(obj runtime.Object) error {
	count("encode %T %s", obj, text(obj))
	return e.err
}
func (e *events) Close() error { count("close"); return e.err }

// tryEvents encodes and decodes the events of watches.
func tryEvents() {
	objects := map[string]runtime.Object{"pod": pod("p"), "status": failure, "stranger": &unregisteredObject{}, "nil": nil, "nil pod": (*corev1.Pod)(nil), "list": &corev1.PodList{}}
	for _, kind := range []string{jsonType, protobufType} {
		for _, name := range sorted(objects) {
			for _, of := range []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error, "", "ODD"} {
				block(fmt.Sprintf("event %s %s %s", kind, name, of), func() {
					for _, info := range scheme.Codecs.SupportedMediaTypes() {
						if info.MediaType != kind {
							continue
						}
						var b bytes.Buffer
						to := streaming.NewEncoder(info.StreamSerializer.NewFrameWriter(&b), info.StreamSerializer)
						encoder := restwatch.NewEncoder(to, scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion))
						printPanics(func() { line(kindOf(encoder.Encode(&watch.Event{Type: of, Object: objects[name]}))) })
						printPanics(func() { line(kindOf(encoder.Encode(&watch.Event{Type: watch.Added, Object: pod("next")}))) })
						line(short(b.Bytes()))
						from := streaming.NewDecoder(info.StreamSerializer.NewFrameReader(io.NopCloser(&b)), info.StreamSerializer)
						decoder := restwatch.NewDecoder(from, scheme.Codecs.UniversalDeserializer())
						for range 3 {
							kind, obj, err := decoder.Decode()
							line(kind, object(obj), kindOf(err))
						}
						decoder.Close()
						decoder.Close()
						kind, obj, err := decoder.Decode()
						line(kind, object(obj), kindOf(err))
					}
				})
			}
		}
	}
	block("no event", func() {
		line(kindOf(restwatch.NewEncoder(&events{}, scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion)).Encode(nil)))
	})
	block("events of one's own codecs", func() {
		for _, e := range []*events{
			{}, {err: errProgram}, {err: io.EOF}, {err: io.ErrUnexpectedEOF}, {other: &metav1.WatchEvent{Type: "ADDED"}}, {other: pod("p")}, {into: func(e *metav1.WatchEvent) { e.Type = "ADDED" }},
			{into: func(e *metav1.WatchEvent) { e.Type, e.Object.Raw = "ADDED", []byte(`{"kind":"Pod","apiVersion":"v1"}`) }},
			{into: func(e *metav1.WatchEvent) { e.Type, e.Object.Object = "ADDED", pod("p") }},
			{into: func(e *metav1.WatchEvent) { e.Type, e.Object.Raw = "ERROR", []byte(`bad`) }},
		} {
			d := restwatch.NewDecoder(e, scheme.Codecs.UniversalDeserializer())
			printPanics(func() {
				kind, obj, err := d.Decode()
				line(kind, object(obj), kindOf(err))
			})
			d.Close()
			printCounts()
			encoder := restwatch.NewEncoder(e, scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion))
			printPanics(func() { line(kindOf(encoder.Encode(&watch.Event{Type: "ADDED", Object: pod("p")}))) })
			printCounts()
		}
		encoder := restwatch.NewEncoder(&events{}, failingEncoder{})
		line(kindOf(encoder.Encode(&watch.Event{Type: "ADDED", Object: pod("p")})))
		printCounts()
	})
}
