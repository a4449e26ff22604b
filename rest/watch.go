package rest

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
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
func (r *streamDecoder[T]) readWatch(x *exchange, encoding Encoding, known decode.KnownFunc, held decode.HeldFunc) *watchStream[T] {
	x.kinds = orDefault(x.kinds, r.kinds.Load())
	events := decode.Events[T]{Items: &r.items, Response: x.decoding(encoding, held), Known: known}
	decodeFrame := func(f wire.Frame, _ *wire.Envelope) (listwatch.Event[T], error) {
		event, err := events.Decode(f)
		if err != nil {
			err = x.wrapDecodeError(err)
		}
		return event, err
	}
	return &watchStream[T]{pipeline: startPipeline(x, newWatchFramer(encoding, x.config.maxObjectBytes), decodeFrame), stats: newStreamStats(x)}
}

func newWatchFramer(e Encoding, maxObjectBytes int) wire.Framer {
	if e == Protobuf {
		return wire.NewProtobufWatch(maxObjectBytes)
	}
	return wire.NewJSONWatch(maxObjectBytes)
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
