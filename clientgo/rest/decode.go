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

// decodersBySharing maps each Sharing to its *decoders. The decoders belong to the process, so that
// the objects of all clients can share parts.
var decodersBySharing sync.Map

// decodersOf returns the decoders of a Sharing. It returns nil if the program's codecs must decode
// lists and watches.
func decodersOf(s Sharing) *decoders {
	if s == ShareByDefault {
		s = environmentSharing()
	}
	made, ok := decodersBySharing.Load(s)
	if !ok {
		made, _ = decodersBySharing.LoadOrStore(s, sync.OnceValue(func() *decoders { return newDecoders(s) }))
	}
	return made.(func() *decoders)()
}

// decoders holds the decoder of objects in a shared informer's cache, and the decoder of objects
// that the receiver owns.
type decoders struct {
	readers       *kinform.BodyReaders
	cached, owned *sharing.Decoder
	made          sync.Map // of readerKey, to *kinform.BodyReader
}

// readerKey identifies a reader. If kind is not empty, the reader rejects objects of another kind.
type readerKey struct {
	object  reflect.Type
	kind    schema.GroupVersionKind
	decoder *sharing.Decoder
}

func newDecoders(shared Sharing) *decoders {
	readers, err := kinform.NewBodyReaders(kinform.Options{})
	if err != nil {
		return nil // lists are decoded by the program's codecs
	}
	d := &decoders{readers: readers, owned: sharing.New(sharing.Options{Share: sharing.StringsOnly})}
	switch d.cached = d.owned; shared {
	case ShareEverything:
		d.cached = sharing.New(sharing.Options{MutationDetector: sharing.NewMutationDetector(logMutation)})
		guard.Add(d.cached.Check)
	case ShareNothing:
		d.cached = sharing.New(sharing.Options{MaxBytes: -1})
		d.owned = d.cached
	case ShareConstants:
	default:
		d.cached = sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(logMutation)})
		guard.Add(d.cached.Check)
	}
	return d
}

// logMutation logs that a program has changed a cached object. It omits the content, which may be a
// secret.
func logMutation(change sharing.Mutation) {
	klog.Background().Error(nil, "The program has changed a cached object in place, and with it other objects that share this part. "+
		"Objects that come from now on share strings only. "+detectorVariable+"=true finds the code that does it; "+
		sharingVariable+"=constants lets it change one object only, as with client-go", "field", change.Field)
}

// decoderFor returns the decoder of objects for a use. If copied is true, the objects share parts,
// so a transform must get copies of them.
func (d *decoders) decoderFor(use sink.Use, object reflect.Type) (decoder *sharing.Decoder, copied bool) {
	switch {
	case use == sink.Cached:
		return d.cached, false
	case use == sink.Transformed && d.cached != d.owned && sharing.Copies(object):
		return d.cached, true
	}
	return d.owned, false
}

// readerOf returns the reader of lists and watches. The type object is the type of their objects, a
// pointer to a struct. If kind is not empty, the reader rejects objects of another kind. readerOf
// returns nil if there is no reader for the encoding. For copied, see decoderFor.
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
