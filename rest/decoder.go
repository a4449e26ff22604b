package rest

import (
	"github.com/kinform/kinform/rest/sharing"
)

// Decoder decodes the objects of lists and watches. [sharing.Decoder] implements it. The client
// calls its methods from several goroutines at once. They must not keep data. If a method fails or
// panics, only this object becomes a [*listwatch.ObjectError].
//
// Options.MaxExpansion limits the memory of a Decoder that matches the fields of T by their names,
// in any case, as encoding/json does. It does not limit the memory of other Decoders. The client
// does not limit the time that a Decoder takes for an extreme quantity. A sharing.Decoder decodes
// extreme quantities at once.
type Decoder interface {
	// DecodeProtobuf decodes a message into object, which points to a zero value. earlier is nil,
	// or an object of the same type that the caller of Watch holds under the same key; see
	// [listwatch.WatchOptions].Held, which informers set. The new object may share equal parts of
	// earlier.
	DecodeProtobuf(data []byte, object, earlier any) error

	// DecodeJSON decodes JSON into object, which points to a zero value. If T is a pointer, the
	// value has T's element type; otherwise it has type T. For unstructured objects it is a
	// map[string]any. For an item of a list, the map already has the apiVersion and the kind that
	// the list implies.
	DecodeJSON(data []byte, object any) error
}

var _ Decoder = (*sharing.Decoder)(nil)
