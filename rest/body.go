package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// BodyReaders makes [BodyReader] values that share budgets, buffers, and the default Decoder. A
// program needs one BodyReaders. It is safe for concurrent use.
type BodyReaders struct{ config decodeConfig }

// NewBodyReaders returns BodyReaders with the limits for responses in opts, including MaxSilence.
// Of opts.Observer, the readers call only OnStreamEnd. NewBodyReaders ignores the other options,
// which are for requests. An option that [NewClient] would refuse is an error.
func NewBodyReaders(opts Options) (*BodyReaders, error) {
	b := &BodyReaders{}
	if err := b.config.setOptions(&opts); err != nil {
		return nil, err
	}
	return b, nil
}

// BodyReader decodes lists and watches that another HTTP client has received, in the same way as a
// Client: item by item while the bytes arrive, on several cores, within budgets. It is for
// libraries whose requests must go through an http.Client of the program. It is safe for concurrent
// use.
type BodyReader struct{ decoder streamDecoder[any] }

// For returns a reader for objects of a type, which is a pointer to a struct. If opts.Resource is
// empty, the objects may be of any kind. Of the other options, only the options for decoding have
// an effect. Objects have kind and apiVersion if the server sent them.
func (b *BodyReaders) For(object reflect.Type, opts ResourceOptions) (*BodyReader, error) {
	if object == nil || object.Kind() != reflect.Pointer || object.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("rest: a BodyReader needs a pointer to a struct, not %v", object)
	}
	r := &BodyReader{}
	r.decoder.configure(&b.config, &opts, decode.Type{Go: object, Tagged: b.config.tagged(object.Elem())})
	if !opts.Resource.Empty() {
		r.decoder.kinds.Store(newKindChecker(opts.Resource, opts.Kind, object, false))
	}
	return r, nil
}

// Reads reports whether the reader decodes an encoding.
func (b *BodyReader) Reads(e Encoding) bool {
	return e == JSON || e == Protobuf && b.decoder.items.Shared.Protobuf()
}

// BodyList is the stream of a list that a BodyReader reads.
type BodyList struct{ *listStream[any] }

// Empty returns the list without its items: its kind, its metadata and all other fields, as encoded
// by the server, and an empty array of items. Like Meta, it is complete only after Next has
// returned io.EOF. Empty returns nil for a list in protobuf.
func (l *BodyList) Empty() []byte {
	fields := l.pipeline.envelope.OtherFields
	if len(fields) == 0 {
		return nil
	}
	return slices.Concat([]byte(`{"items":[]`), fields, []byte("}"))
}

// List reads the body of a successful response. Closing the stream closes the body. Of opts, only
// Known, Owned and Bytes have an effect.
func (b *BodyReader) List(ctx context.Context, response *http.Response, opts listwatch.ListOptions) (*BodyList, error) {
	x, err := b.exchange(ctx, response, "list")
	if err != nil {
		return nil, err
	}
	x.owned, x.maxBytes, x.listBytes = opts.Owned, b.decoder.config.maxListBytes, orDefault(opts.Bytes, new(atomic.Int64))
	return &BodyList{b.decoder.readList(x, x.encoding, opts.Known)}, nil
}

// Watch reads the body of a successful response to a watch. Closing the stream closes the body. Of
// opts, only SendInitialEvents, Known, Held, Owned and Bytes have an effect.
func (b *BodyReader) Watch(ctx context.Context, response *http.Response, opts listwatch.WatchOptions) (listwatch.WatchStream[any], error) {
	x, err := b.exchange(ctx, response, "watch")
	if err != nil {
		return nil, err
	}
	x.owned = opts.Owned
	return b.decoder.watch(x, x.encoding, opts), nil
}

// exchange returns an exchange that owns the response. After an error, the caller still owns the
// response.
func (b *BodyReader) exchange(ctx context.Context, response *http.Response, verb string) (*exchange, error) {
	r := &b.decoder
	encoding, err := encodingOf(response)
	if err != nil {
		return nil, err
	}
	if !b.Reads(encoding) {
		return nil, wire.Malformed("the response is in protobuf, which %s does not decode", r.items.Shared.Go)
	}
	x := &exchange{config: r.config, method: http.MethodGet, info: RequestInfo{Verb: verb, Resource: r.gvr}, ctx: ctx, response: response, encoding: encoding}
	if response.Request != nil && response.Request.URL != nil {
		x.address = *response.Request.URL
	}
	x.requestCtx, x.cancel = context.WithCancelCause(ctx)
	return x, nil
}
