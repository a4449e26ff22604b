package rest

import (
	"bytes"
	"encoding/binary"
	stdjson "encoding/json"
	"errors"
	"io"
	"mime"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/util/net"

	"k8s.io/client-go/internal/sink"

	"github.com/kinform/kinform/listwatch"
	kinform "github.com/kinform/kinform/rest"
)

// Pull implements sink.Puller.
func (w *watchResponse) Pull(opts listwatch.WatchOptions, use sink.Use) listwatch.WatchStream[any] {
	c, ok := codecOf(w.objects)
	if of := w.response.Header.Get("Content-Type"); of != "" {
		_, _, err := mime.ParseMediaType(of)
		// if the Content-Type is malformed, only the program's negotiator can interpret it
		ok = ok && err == nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok || w.stopped || w.pushing != nil {
		return nil
	}
	return &pullStream{watched: w, codec: c, opts: opts, use: use}
}

// pullStream is the stream of a watch's events. kinform decodes them.
type pullStream struct {
	watched *watchResponse
	codec   codec
	opts    listwatch.WatchOptions
	use     sink.Use

	kind   *schema.GroupVersionKind // set on each object; nil: objects keep their kind
	inner  listwatch.WatchStream[any]
	copied bool  // objects are returned as a sink.Shared
	err    error // why the stream could not be opened, or has ended
}

// Next implements listwatch.WatchStream. A lost connection ends the watch without an error, as for
// ResultChan.
func (p *pullStream) Next() (listwatch.Event[any], error) {
	if p.inner == nil && p.err == nil {
		p.inner, p.err = p.open()
	}
	if p.err != nil {
		return listwatch.Event[any]{}, p.err
	}
	event, err := p.inner.Next()
	switch {
	case err == nil:
		if object, ok := event.Object.(runtime.Object); ok && p.kind != nil {
			object.GetObjectKind().SetGroupVersionKind(*p.kind)
		}
		if p.copied && event.Type != listwatch.Bookmark && event.State == listwatch.Decoded {
			event.Object = sink.Shared{Object: event.Object.(runtime.Object)}
		}
		return event, nil
	case p.watched.ctx.Err() == nil && isLost(err):
		p.err = io.EOF
		return event, p.err
	}
	return event, err
}

func isLost(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || net.IsProbableEOF(err) || net.IsTimeout(err)
}

// Close implements listwatch.WatchStream.
func (p *pullStream) Close() error {
	p.watched.Stop()
	if p.inner != nil {
		return p.inner.Close()
	}
	return nil
}

// open waits for the first event, which determines the type of the objects.
func (p *pullStream) open() (listwatch.WatchStream[any], error) {
	w := p.watched
	object, kind := p.codec.object, schema.GroupVersionKind{}
	if object != reflect.TypeFor[*unstructured.Unstructured]() {
		read := &bytes.Buffer{}
		budget := &frameBudget{body: w.body, left: maxEventBytes}
		kind = firstKind(io.TeeReader(budget, read), p.codec.encoding)
		if budget.left <= 0 && kind.Kind == "" {
			return nil, streaming.ErrObjectTooLarge
		}
		w.mu.Lock()
		w.body = prefixedBody{io.MultiReader(read, w.body), w.body}
		w.mu.Unlock()
		if kind.Kind == "" {
			return nil, sink.ErrPush
		}
		empty, _, err := w.objects.Decode(emptyObject(kind, p.codec.encoding), nil, nil)
		if err != nil || reflect.TypeOf(empty).Kind() != reflect.Pointer || reflect.TypeOf(empty).Elem().Kind() != reflect.Struct {
			return nil, sink.ErrPush
		}
		object = reflect.TypeOf(empty)
		if _, untyped := empty.(runtime.Unstructured); !untyped {
			gvk := empty.GetObjectKind().GroupVersionKind()
			p.kind = &gvk
		}
	}
	reader, copied := decodersOf(w.sharing).readerOf(object, kind, p.use, p.codec.encoding)
	if reader == nil {
		return nil, sink.ErrPush
	}
	p.copied = copied
	response := *w.response
	response.Body = w.body
	return reader.Watch(w.ctx, &response, p.opts)
}

// prefixedBody is a body that returns the start of the body, which was read already, and then the
// rest.
type prefixedBody struct {
	io.Reader
	io.Closer
}

// emptyObject returns an object that has only a name. Some codecs treat an object without a name as
// missing.
func emptyObject(kind schema.GroupVersionKind, encoding kinform.Encoding) []byte {
	apiVersion, name := kind.ToAPIVersionAndKind()
	if encoding == kinform.Protobuf {
		is := appendField(appendField(nil, 1, []byte(apiVersion)), 2, []byte(name))
		meta := appendField(nil, 1, appendField(nil, 1, []byte("x")))
		return appendField(appendField(bytes.Clone(protobufMagic), 1, is), 2, meta)
	}
	object, _ := stdjson.Marshal(map[string]any{"kind": name, "apiVersion": apiVersion, "metadata": map[string]string{"name": "x"}})
	return object
}

// firstKind waits for the first event, and returns the kind of the event's object. The kind is
// empty if the event is an error or undecodable.
func firstKind(body io.Reader, encoding kinform.Encoding) schema.GroupVersionKind {
	if encoding == kinform.Protobuf {
		return firstKindProtobuf(body)
	}
	return firstKindJSON(body)
}

func firstKindJSON(body io.Reader) (none schema.GroupVersionKind) {
	decoder := stdjson.NewDecoder(body)
	var apiVersion, kind string
	inside := false // inside the event's object
	if token, err := decoder.Token(); err != nil || token != stdjson.Delim('{') {
		return none
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return none
		}
		switch {
		case !inside && key == "object":
			if token, err := decoder.Token(); err != nil || token != stdjson.Delim('{') {
				return none
			}
			inside = true
			continue
		case inside && key == "kind":
			err = decoder.Decode(&kind)
		case inside && key == "apiVersion":
			err = decoder.Decode(&apiVersion)
		default:
			var value stdjson.RawMessage
			err = decoder.Decode(&value)
			if !inside && key == "type" && string(value) == `"ERROR"` {
				return none
			}
		}
		if err != nil {
			return none
		}
		if kind != "" && apiVersion != "" {
			return schema.FromAPIVersionAndKind(apiVersion, kind)
		}
	}
	return none
}

// firstKindProtobuf reads the beginning of the first event: its type, and the apiVersion and kind
// of its object.
func firstKindProtobuf(body io.Reader) (none schema.GroupVersionKind) {
	var size [4]byte
	if _, err := io.ReadFull(body, size[:]); err != nil {
		return none
	}
	const enough = 1 << 10
	start := make([]byte, min(binary.BigEndian.Uint32(size[:]), enough))
	if _, err := io.ReadFull(body, start); err != nil {
		return none
	}
	of, rest, ok := readField(start, 1)
	if !ok || string(of) == "ERROR" {
		return none
	}
	for _, number := range []byte{2, 1} { // the event's object, then the object's bytes
		if rest, _, ok = readFieldHeader(rest, number); !ok {
			return none
		}
	}
	rest, ok = bytes.CutPrefix(rest, protobufMagic)
	if !ok {
		return none
	}
	is, _, ok := readField(rest, 1)
	if !ok {
		return none
	}
	var kind runtime.TypeMeta
	if kind.Unmarshal(is) != nil {
		return none
	}
	return schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
}
