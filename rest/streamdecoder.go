package rest

import (
	"reflect"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/rest/internal/decode"
)

// streamDecoder decodes the lists and watches of one resource, from the responses of any HTTP
// client.
type streamDecoder[T any] struct {
	config *decodeConfig
	gvr    schema.GroupVersionResource
	opts   *ResourceOptions
	items  decode.Items[T]
	kinds  atomic.Pointer[decode.KindChecker]
}

// configure sets the fields of r, except kinds.
func (r *streamDecoder[T]) configure(config *decodeConfig, opts *ResourceOptions, t decode.Type) {
	r.config, r.gvr, r.opts = config, opts.Resource, opts
	o := decode.Options{Custom: opts.Decoder, Protobuf: opts.Encoding == Protobuf, Share: !opts.Unshared}
	if opts.Project != nil {
		o.Remove = opts.Project.remover(t.Go)
	}
	r.items = decode.NewItems[T](t, &config.tables, o, config.limits(), &config.counters.omitted)
}

// tagged reports whether a type is decoded by the tags of its fields.
func (r *decodeConfig) tagged(elem reflect.Type) bool {
	return decode.IsGenerated(elem) && r.tables.DecodesTags(elem)
}
