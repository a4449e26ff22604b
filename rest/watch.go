package rest

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// Watch implements [listwatch.Source]. It always requests bookmarks.
func (r *Resource[T]) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[T], error) {
	query := r.selectors()
	set(query, "watch", "true")
	set(query, "allowWatchBookmarks", "true")
	set(query, "resourceVersion", opts.ResourceVersion)
	if opts.SendInitialEvents {
		set(query, "sendInitialEvents", "true")
		set(query, "resourceVersionMatch", string(metav1.ResourceVersionMatchNotOlderThan))
	}
	if opts.Timeout > 0 {
		set(query, "timeoutSeconds", strconv.FormatInt(int64((opts.Timeout-1)/time.Second)+1, 10))
	}
	x, encoding, err := r.open(ctx, "watch", query)
	if err != nil {
		return nil, err
	}
	x.owned = opts.Owned
	return r.watch(x, encoding, opts), nil
}

// watch returns the stream of a response to a watch with these options.
func (r *streamDecoder[T]) watch(x *exchange, encoding Encoding, opts listwatch.WatchOptions) *watchStream[T] {
	if !opts.SendInitialEvents {
		opts.Known = nil
	}
	stream := r.readWatch(x, encoding, opts.Known, opts.Held)
	stream.initial, stream.initialBytes = opts.SendInitialEvents, orDefault(opts.Bytes, new(atomic.Int64))
	return stream
}

// readWatch returns the stream of a response to a watch, without a limit for its initial events.
func (r *streamDecoder[T]) readWatch(x *exchange, encoding Encoding, known knownFunc, held heldFunc) *watchStream[T] {
	x.kinds = orDefault(x.kinds, r.kinds.Load())
	events := &eventDecoder[T]{decoder: r, exchange: x, encoding: encoding, known: known, held: held}
	return &watchStream[T]{pipeline: startPipeline(x, newWatchFramer(encoding, x.config.maxObjectBytes), events.decode), stats: newStreamStats(x)}
}

func newWatchFramer(e Encoding, maxObjectBytes int) wire.Framer {
	if e == Protobuf {
		return wire.NewProtobufWatch(maxObjectBytes)
	}
	return wire.NewJSONWatch(maxObjectBytes)
}

// eventDecoder decodes the frames of one watch.
type eventDecoder[T any] struct {
	decoder  *streamDecoder[T]
	exchange *exchange
	encoding Encoding
	known    knownFunc
	held     heldFunc
}

func (d *eventDecoder[T]) decode(f wire.Frame, _ *wire.Envelope) (event listwatch.Event[T], err error) {
	name, object, err := d.unwrap(f)
	if err != nil {
		return event, d.exchange.wrapError(err)
	}
	event.Type = eventType(name)
	switch {
	case event.Type == listwatch.Bookmark:
		d.bookmark(object, f.Err, &event)
		return event, nil
	case f.Err != nil && event.Type != 0:
		id := identify(d.encoding, object, true)
		failed := objectError(d.exchange, id, f.Err)
		failed.Type = event.Type
		return event, failed
	case f.Err != nil:
		return event, d.exchange.wrapError(f.Err)
	case string(name) == "ERROR":
		return event, d.exchange.wrapError(d.serverError(object))
	case event.Type == 0:
		return event, d.exchange.wrapError(wire.Malformed("an event of type %q", wire.Excerpt(name, 64)))
	}
	known := d.known
	if event.Type != listwatch.Added {
		known = nil
	}
	f.Data = object
	event.Item, err = d.decoder.decodeItem(d.exchange, d.encoding, f, &wire.Envelope{}, known, d.held)
	if failed, ok := err.(*listwatch.ObjectError); ok {
		failed.Type = event.Type
	}
	return event, err
}

// unwrap splits an event into its type and its object. If the object of a bookmark is unusable,
// unwrap returns no object.
//
//	WatchEvent{ type=1 object=2{ raw=1{ "k8s\0" Unknown } } }     in protobuf
//	{"type": ..., "object": {...}}                               in JSON
func (d *eventDecoder[T]) unwrap(f wire.Frame) (name, object []byte, err error) {
	if d.encoding == JSON {
		name, object, err = unwrapJSON(f)
	} else {
		name, object, err = d.unwrapProtobuf(f)
	}
	if eventType(name) == listwatch.Bookmark && err != nil {
		return name, nil, nil
	}
	return name, object, err
}

func unwrapJSON(f wire.Frame) (name, object []byte, err error) {
	for key, value := range wire.JSONFields(f.Data) {
		switch string(key) {
		case "type":
			name = wire.JSONText(value)
		case "object":
			object = value
		}
	}
	if name == nil || object == nil {
		err = wire.Malformed("an event needs a type and an object")
		if f.Err != nil {
			err = f.Err // the reason
		}
	}
	return name, object, err
}

func (d *eventDecoder[T]) unwrapProtobuf(f wire.Frame) (name, object []byte, err error) {
	partial := f.Err != nil
	name, _, err = wire.BytesField(f.Data, 1, partial)
	if err != nil {
		return nil, nil, err
	}
	extension, _, err := wire.BytesField(f.Data, 2, partial)
	if err != nil {
		return name, nil, err
	}
	raw, _, err := wire.BytesField(extension, 1, partial)
	if err != nil {
		return name, nil, err
	}
	apiVersion, kind, object, err := wire.Unwrap(raw, partial)
	if err == nil && string(name) != "ERROR" {
		err = d.exchange.kinds.checkObject(apiVersion, kind)
	}
	return name, object, err
}

// eventType returns the type with this name, or 0 for an unknown name.
func eventType(name []byte) listwatch.EventType {
	switch string(name) {
	case "ADDED":
		return listwatch.Added
	case "MODIFIED":
		return listwatch.Modified
	case "DELETED":
		return listwatch.Deleted
	case "BOOKMARK":
		return listwatch.Bookmark
	default:
		return 0
	}
}

// bookmark reads the metadata of a bookmark, whose object has nothing else. A bookmark is only a
// hint: if its object is undecodable or of another kind, the bookmark counts as one without a
// version. truncated is the reason why the object was not read to its end, or nil.
func (d *eventDecoder[T]) bookmark(object []byte, truncated error, event *listwatch.Event[T]) {
	var holder struct {
		metav1.TypeMeta
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if truncated != nil || len(object) > maxStatusBytes {
		return
	}
	err := wire.CatchPanic(func() error {
		if d.encoding == JSON {
			return kjson.UnmarshalCaseSensitivePreserveInts(object, &holder)
		}
		metadata, _, err := wire.BytesField(object, 1, false)
		if err != nil {
			return err
		}
		return holder.Metadata.Unmarshal(metadata)
	})
	if err != nil {
		return
	}
	event.InitialEventsEnd = holder.Metadata.Annotations[metav1.InitialEventsAnnotationKey] == "true"
	version := holder.Metadata.ResourceVersion
	if d.exchange.kinds.checkObject([]byte(holder.APIVersion), []byte(holder.Kind)) == nil && wire.CheckVersion(version) == nil {
		event.ResourceVersion = version
	}
}

// serverError returns the error in an ERROR event.
func (d *eventDecoder[T]) serverError(object []byte) error {
	if len(object) > maxStatusBytes {
		return wire.Malformed("the server reported an error of %d bytes", len(object))
	}
	var status metav1.Status
	var err error
	if d.encoding == JSON {
		err = kjson.UnmarshalCaseSensitivePreserveInts(object, &status)
	} else {
		status, err = readStatus(object)
	}
	if err != nil || status.Status != metav1.StatusFailure || status.Kind != "" && status.Kind != "Status" {
		return wire.Malformed("the server reported an error that is not a Status")
	}
	truncateStatus(&status)
	return &apierrors.StatusError{ErrStatus: status}
}

// watchStream implements [listwatch.WatchStream].
type watchStream[T any] struct {
	pipeline *pipeline[T]
	stats    *streamStats
	initial  bool // the initial events have not ended
	// bytes of this watch that initialBytes already includes; all parts of a streaming list share
	// initialBytes
	counted      int64
	initialBytes *atomic.Int64
}

// Next implements [listwatch.WatchStream].
func (s *watchStream[T]) Next() (listwatch.Event[T], error) {
	event, err := s.pipeline.next()
	if s.initial {
		// Count only events that Next has returned: the same buffer may also have later events,
		// which are perhaps not initial ones.
		s.initial = !event.InitialEventsEnd
		if config := s.pipeline.exchange.config; s.initial && s.countInitialBytes() > config.maxListBytes && s.pipeline.err == nil {
			s.pipeline.err = s.pipeline.exchange.wrapError(config.listTooLarge())
			event, err = listwatch.Event[T]{}, s.pipeline.err
		}
	}
	s.stats.add(event.Type == listwatch.Bookmark, event.State == listwatch.Unchanged, err)
	return event, err
}

// countInitialBytes returns the number of bytes of the initial events so far.
func (s *watchStream[T]) countInitialBytes() int64 {
	more := s.pipeline.earlierBytes - s.counted
	if more == 0 {
		return s.initialBytes.Load()
	}
	s.counted = s.pipeline.earlierBytes
	return s.initialBytes.Add(more)
}

// Close implements [listwatch.WatchStream].
func (s *watchStream[T]) Close() error {
	s.pipeline.close()
	s.stats.end()
	return nil
}
