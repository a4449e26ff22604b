package rest

import (
	"os"
	"reflect"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"k8s.io/client-go/internal/guard"
	"k8s.io/client-go/internal/sink"

	kinform "github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

// sharingVariable is the environment variable that says what cached objects may share with each other: "immutable", which is the
// default, "constants", "everything" or "nothing". README.md says what that means and what it costs.
const sharingVariable = "KINFORM_SHARING"

// detectorVariable switches client-go's mutation detector on. It names the object that was changed, so that objects must then have
// nothing in common that can be changed.
const detectorVariable = "KUBE_CACHE_MUTATION_DETECTOR"

// decoding decodes all lists and watches of the process, so that one table has what they share.
var decoding = sync.OnceValue(func() *decoders { return newDecoding(sharingOf(os.Getenv)) })

// decoders are those of objects of a shared informer's cache, and of objects that are their receiver's own.
type decoders struct {
	client        *kinform.Client // for its budgets: it sends no request
	cached, owned *sharing.Decoder
	everything    bool
	readers       sync.Map // of readerKey, to *kinform.BodyReader
}

// readerKey is what readers are for: each refuses objects of another kind than the given one, if it isn't empty.
type readerKey struct {
	object  reflect.Type
	kind    schema.GroupVersionKind
	decoder *sharing.Decoder
}

// sharingOf reads the environment.
func sharingOf(getenv func(string) string) string {
	if set := getenv(sharingVariable); set != "" {
		return set
	}
	if detects, _ := strconv.ParseBool(getenv(detectorVariable)); detects {
		return "constants"
	}
	return "immutable"
}

func newDecoding(shared string) *decoders {
	client, err := kinform.NewClient(kinform.Config{Host: "http://localhost"}, kinform.Options{})
	if err != nil {
		return nil // lists are decoded by the program's codecs
	}
	d := &decoders{client: client, owned: sharing.New(sharing.Options{Share: sharing.Constants})}
	switch d.cached = d.owned; shared {
	case "everything":
		d.cached, d.everything = sharing.New(sharing.Options{Changed: complain}), true
		guard.Set(d.cached.Check)
	case "nothing":
		d.cached = sharing.New(sharing.Options{MaxBytes: -1})
		d.owned = d.cached
	case "constants":
	default:
		d.cached = sharing.New(sharing.Options{Share: sharing.Immutable, Changed: complain})
		guard.Set(d.cached.Check)
	}
	return d
}

// complain says that a program has changed a cached object. It does not say what the content was, which may be a secret.
func complain(change sharing.Change) {
	klog.Background().Error(nil, "The program has changed a cached object in place, and with it other objects that share this part. "+
		"Objects that come from now on share nothing that can be changed. "+detectorVariable+"=true finds the code that does it; "+
		sharingVariable+"=constants lets it change one object only, as before", "field", change.Field)
}

// decoderFor returns the decoder of objects for a use.
func (d *decoders) decoderFor(use sink.Use) *sharing.Decoder {
	if use == sink.Cached || d.everything && use == sink.Kept {
		return d.cached
	}
	return d.owned
}

// readerOf returns the reader of lists and watches whose objects are of a type, which is a pointer to a struct, and of a kind, which
// may be empty; or nil if it can't read this encoding.
func readerOf(object reflect.Type, kind schema.GroupVersionKind, use sink.Use, encoding kinform.Encoding) *kinform.BodyReader {
	d := decoding()
	if d == nil {
		return nil
	}
	key := readerKey{object, kind, d.decoderFor(use)}
	known, ok := d.readers.Load(key)
	if !ok {
		opts := kinform.ResourceOptions{Decoder: key.decoder}
		if !kind.Empty() {
			opts.Kind, opts.Resource = kind.Kind, schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: kind.Kind}
		}
		made, err := kinform.NewBodyReader(d.client, object, opts)
		if err != nil {
			made = nil
		}
		known, _ = d.readers.LoadOrStore(key, made)
	}
	reader := known.(*kinform.BodyReader)
	if reader == nil || !reader.Reads(encoding) {
		return nil
	}
	return reader
}
