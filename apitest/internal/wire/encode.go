package wire

import (
	"encoding/binary"
	"math/bits"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// typeOf returns the apiVersion and kind of objects of res in this format.
func (f Format) typeOf(res *storage.Resource) (apiVersion, kind string) {
	if f.metadata {
		return storage.MetadataType.APIVersion, storage.MetadataType.Kind
	}
	return res.GVK.GroupVersion().String(), res.Kind
}

// item encodes an object as an item of a list.
func (f Format) item(rev *storage.Revision) []byte {
	switch {
	case f.metadata && f.Protobuf:
		return rev.MetadataProto()
	case f.metadata:
		return rev.MetadataJSON()
	case f.Protobuf:
		return rev.Stored
	default:
		return rev.ItemJSON()
	}
}

// typed reports whether items of a list in JSON have kind and apiVersion.
func (f Format) typed(res *storage.Resource) bool { return f.metadata || !res.Protobuf() }

// AppendObject appends an object on its own, outside of a list.
func (f Format) AppendObject(b []byte, rev *storage.Revision) []byte {
	if f.Table {
		return append(b, apiobject.MustJSON(f.tableOf(rev))...)
	}
	item := f.item(rev)
	apiVersion, kind := f.typeOf(rev.Res)
	switch {
	case f.Protobuf:
		b = appendEnvelope(b, apiVersion, kind, len(item))
		b = append(b, item...)
		return append(b, apiobject.EnvelopeEnd...)
	case f.typed(rev.Res):
		return append(b, item...)
	default:
		b = appendJSONType(b, apiVersion, kind)
		return append(b, item[len("{"):]...)
	}
}

// AppendEvent appends one event of a watch: a line of JSON, or a frame of
// protobuf.
func (f Format) AppendEvent(b []byte, eventType string, rev *storage.Revision) []byte {
	if !f.Protobuf {
		b = append(b, `{"type":"`...)
		b = append(b, eventType...)
		b = append(b, `","object":`...)
		b = f.AppendObject(b, rev)
		return append(b, '}', '\n')
	}
	apiVersion, kind := f.typeOf(rev.Res)
	item := f.item(rev)
	b = appendFrame(b, eventType, envelopeSize(apiVersion, kind, len(item)))
	return f.AppendObject(b, rev)
}

// AppendError appends the event that ends a watch with an error.
func (f Format) AppendError(b []byte, status metav1.Status) []byte {
	if f.Protobuf {
		body := protoStatus(status)
		return append(appendFrame(b, "ERROR", len(body)), body...)
	}
	b = append(b, `{"type":"ERROR","object":`...)
	b = append(b, apiobject.MustJSON(status)...)
	return append(b, '}', '\n')
}

// appendFrame appends the beginning of a protobuf watch frame: the length, the type of the event,
// and the header of the RawExtension. The object that follows has size bytes.
func appendFrame(b []byte, eventType string, size int) []byte {
	raw := 1 + varintSize(size) + size // field raw = 1 of RawExtension
	event := 1 + varintSize(len(eventType)) + len(eventType) + 1 + varintSize(raw) + raw
	b = binary.BigEndian.AppendUint32(b, uint32(event))
	b = AppendProtoString(b, 0x0a, eventType)
	b = binary.AppendUvarint(append(b, 0x12), uint64(raw))
	return binary.AppendUvarint(append(b, 0x0a), uint64(size))
}

// appendEnvelope appends the beginning of a protobuf body. The object that follows has size bytes.
// After the object, the caller appends apiobject.EnvelopeEnd.
func appendEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, apiobject.ProtobufMagic...)
	b = binary.AppendUvarint(append(b, 0x0a), uint64(typeMetaSize(apiVersion, kind)))
	b = AppendProtoString(b, 0x0a, apiVersion)
	b = AppendProtoString(b, 0x12, kind)
	return binary.AppendUvarint(append(b, 0x12), uint64(size))
}

// envelopeSize returns the size of a whole body for an object of this size.
func envelopeSize(apiVersion, kind string, size int) int {
	typeMeta := typeMetaSize(apiVersion, kind)
	return len(apiobject.ProtobufMagic) + 1 + varintSize(typeMeta) + typeMeta + 1 + varintSize(size) + size + len(apiobject.EnvelopeEnd)
}

func typeMetaSize(apiVersion, kind string) int {
	return 1 + varintSize(len(apiVersion)) + len(apiVersion) + 1 + varintSize(len(kind)) + len(kind)
}

// AppendProtoString appends a string field with this tag.
func AppendProtoString(b []byte, tag byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, tag), uint64(len(s))), s...)
}

func varintSize(n int) int { return (bits.Len64(uint64(n)|1) + 6) / 7 }

// appendJSONType appends the beginning of an object in JSON: kind, apiVersion, and a comma.
func appendJSONType(b []byte, apiVersion, kind string) []byte {
	b = append(b, `{"kind":`...)
	b = strconv.AppendQuote(b, kind)
	b = append(b, `,"apiVersion":`...)
	b = strconv.AppendQuote(b, apiVersion)
	return append(b, ',')
}

// WriteObject responds with an object.
func (f Format) WriteObject(w http.ResponseWriter, code int, rev *storage.Revision) {
	body := f.AppendObject(nil, rev)
	if !f.Protobuf {
		body = append(body, '\n')
	}
	w.Header().Set("Content-Type", f.ContentType())
	w.WriteHeader(code)
	_, _ = w.Write(body)
}
