package rest

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"k8s.io/client-go/internal/guard"
	"k8s.io/client-go/internal/sink"

	kinform "github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

// decoding has the *decoders of each Sharing, so that one table has what all objects of the process share.
var decoding sync.Map

// decodersOf returns the decoders of a Sharing, or nil where lists and watches are for the program's codecs.
func decodersOf(s Sharing) *decoders {
	if s == ShareByDefault {
		s = environmentSharing()
	}
	made, ok := decoding.Load(s)
	if !ok {
		made, _ = decoding.LoadOrStore(s, sync.OnceValue(func() *decoders { return newDecoding(s) }))
	}
	return made.(func() *decoders)()
}

// decoders are those of objects of a shared informer's cache, and of objects that are their receiver's own.
type decoders struct {
	readers       *kinform.BodyReaders
	cached, owned *sharing.Decoder
	made          sync.Map // of readerKey, to *kinform.BodyReader
}

// readerKey is what readers are for: each refuses objects of another kind than the given one, if it isn't empty.
type readerKey struct {
	object  reflect.Type
	kind    schema.GroupVersionKind
	decoder *sharing.Decoder
}

func newDecoding(shared Sharing) *decoders {
	readers, err := kinform.NewBodyReaders(kinform.Options{})
	if err != nil {
		return nil // lists are decoded by the program's codecs
	}
	d := &decoders{readers: readers, owned: sharing.New(sharing.Options{Share: sharing.Constants})}
	switch d.cached = d.owned; shared {
	case ShareEverything:
		d.cached = sharing.New(sharing.Options{Inspector: sharing.NewInspector(complain)})
		guard.Add(d.cached.Check)
	case ShareNothing:
		d.cached = sharing.New(sharing.Options{MaxBytes: -1})
		d.owned = d.cached
	case ShareConstants:
	default:
		d.cached = sharing.New(sharing.Options{Share: sharing.Immutable, Inspector: sharing.NewInspector(complain)})
		guard.Add(d.cached.Check)
	}
	return d
}

// complain says that a program has changed a cached object. It does not say what the content was, which may be a secret.
func complain(change sharing.Change) {
	klog.Background().Error(nil, "The program has changed a cached object in place, and with it other objects that share this part. "+
		"Objects that come from now on share strings only. "+detectorVariable+"=true finds the code that does it; "+
		sharingVariable+"=constants lets it change one object only, as with client-go", "field", change.Field)
}

// decoderFor returns the decoder of objects for a use. copied says that they share parts, and must be copied before a transform
// may have them.
func (d *decoders) decoderFor(use sink.Use, object reflect.Type) (decoder *sharing.Decoder, copied bool) {
	switch {
	case use == sink.Cached:
		return d.cached, false
	case use == sink.Transformed && d.cached != d.owned && sharing.Copies(object):
		return d.cached, true
	}
	return d.owned, false
}

// readerOf returns the reader of lists and watches whose objects are of a type, which is a pointer to a struct, and of a kind, which
// may be empty; or nil if it can't read this encoding. copied is as for decoderFor.
func (d *decoders) readerOf(object reflect.Type, kind schema.GroupVersionKind, use sink.Use, encoding kinform.Encoding) (reader *kinform.BodyReader, copied bool) {
	if d == nil {
		return nil, false
	}
	key := readerKey{object: object, kind: kind}
	key.decoder, copied = d.decoderFor(use, object)
	known, ok := d.made.Load(key)
	if !ok {
		opts := kinform.ResourceOptions{Decoder: key.decoder}
		if !kind.Empty() {
			opts.Kind, opts.Resource = kind.Kind, schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Kind}
		}
		made, err := d.readers.For(object, opts)
		if err != nil {
			made = nil
		}
		known, _ = d.made.LoadOrStore(key, made)
	}
	reader = known.(*kinform.BodyReader)
	if reader == nil || !reader.Reads(encoding) {
		return nil, false
	}
	return reader, copied
}
