package decode

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

// Events decodes the frames of one watch.
type Events[T any] struct {
	Items    *Items[T]
	Response Response
	Known    KnownFunc // for ADDED events only; may be nil
}

// Decode decodes an event. If only its object cannot be decoded, the error is an *ObjectError. Any
// other error ends the watch.
func (d *Events[T]) Decode(f wire.Frame) (event listwatch.Event[T], err error) {
	name, object, err := d.unwrap(f)
	if err != nil {
		return event, err
	}
	event.Type = eventType(name)
	switch {
	case event.Type == listwatch.Bookmark:
		d.bookmark(object, f.Err, &event)
		return event, nil
	case f.Err != nil && event.Type != 0:
		failed := d.Response.Truncated(object, f.Err)
		failed.Type = event.Type
		return event, failed
	case f.Err != nil:
		return event, f.Err
	case string(name) == "ERROR":
		return event, d.serverError(object)
	case event.Type == 0:
		return event, wire.Malformed("an event of type %q", wire.Excerpt(name, 64))
	}
	known := d.Known
	if event.Type != listwatch.Added {
		known = nil
	}
	f.Data = object
	event.Item, err = d.Items.Decode(&d.Response, f, &wire.Envelope{}, known)
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
func (d *Events[T]) unwrap(f wire.Frame) (name, object []byte, err error) {
	if d.Response.Encoding == wire.JSON {
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

func (d *Events[T]) unwrapProtobuf(f wire.Frame) (name, object []byte, err error) {
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
		err = d.Response.Kinds.CheckObject(apiVersion, kind)
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
func (d *Events[T]) bookmark(object []byte, truncated error, event *listwatch.Event[T]) {
	var holder struct {
		metav1.TypeMeta
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if truncated != nil || len(object) > MaxStatusBytes {
		return
	}
	err := wire.CatchPanic(func() error {
		if d.Response.Encoding == wire.JSON {
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
	if d.Response.Kinds.CheckObject([]byte(holder.APIVersion), []byte(holder.Kind)) == nil && wire.CheckVersion(version) == nil {
		event.ResourceVersion = version
	}
}

// serverError returns the error in an ERROR event.
func (d *Events[T]) serverError(object []byte) error {
	if len(object) > MaxStatusBytes {
		return wire.Malformed("the server reported an error of %d bytes", len(object))
	}
	var status metav1.Status
	var err error
	if d.Response.Encoding == wire.JSON {
		err = kjson.UnmarshalCaseSensitivePreserveInts(object, &status)
	} else {
		status, err = ReadStatus(object)
	}
	if err != nil || status.Status != metav1.StatusFailure || status.Kind != "" && status.Kind != "Status" {
		return wire.Malformed("the server reported an error that is not a Status")
	}
	TruncateStatus(&status)
	return &apierrors.StatusError{ErrStatus: status}
}
