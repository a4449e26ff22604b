// Package watch decodes and encodes the events of a watch with codecs of apimachinery.
package watch

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
)

// Decoder decodes events. It implements watch.Decoder.
type Decoder struct {
	events  streaming.Decoder
	objects runtime.Decoder
}

var _ watch.Decoder = (*Decoder)(nil)

// NewDecoder returns a Decoder. decoder reads the events, and embeddedDecoder decodes their
// objects.
func NewDecoder(decoder streaming.Decoder, embeddedDecoder runtime.Decoder) *Decoder {
	return &Decoder{events: decoder, objects: embeddedDecoder}
}

// Decode waits for the next event and returns it. For an unknown type of event it returns an error.
func (d *Decoder) Decode() (watch.EventType, runtime.Object, error) {
	var event metav1.WatchEvent
	into, _, err := d.events.Decode(nil, &event)
	if err != nil {
		return "", nil, err
	}
	if into != &event {
		return "", nil, fmt.Errorf("unable to decode to metav1.WatchEvent")
	}
	kind := watch.EventType(event.Type)
	switch kind {
	case watch.Added, watch.Modified, watch.Deleted, watch.Error, watch.Bookmark:
	default:
		return "", nil, fmt.Errorf("got invalid watch event type: %v", event.Type)
	}
	object, err := runtime.Decode(d.objects, event.Object.Raw)
	if err != nil {
		return "", nil, fmt.Errorf("unable to decode watch event: %w", err)
	}
	return kind, object, nil
}

// Close ends the stream.
func (d *Decoder) Close() { _ = d.events.Close() }

// Encoder writes events.
type Encoder struct {
	events  streaming.Encoder
	objects runtime.Encoder
	buffer  *bytes.Buffer
}

// NewEncoder returns an Encoder that writes events to encoder. embeddedEncoder encodes their
// objects. An Encoder is not safe for concurrent use.
func NewEncoder(encoder streaming.Encoder, embeddedEncoder runtime.Encoder) *Encoder {
	return &Encoder{events: encoder, objects: embeddedEncoder, buffer: &bytes.Buffer{}}
}

// Encode writes an event.
func (e *Encoder) Encode(event *watch.Event) error {
	if event == nil {
		return fmt.Errorf("no event to encode")
	}
	e.buffer.Reset()
	if err := e.objects.Encode(event.Object, e.buffer); err != nil {
		return err
	}
	return e.events.Encode(&metav1.WatchEvent{Type: string(event.Type), Object: runtime.RawExtension{Raw: e.buffer.Bytes()}})
}
