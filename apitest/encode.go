package apitest

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// typeOf returns the apiVersion and kind of objects of res in this format.
func (f format) typeOf(res *storage.Resource) (apiVersion, kind string) {
	if f.metadata {
		return storage.MetadataType.APIVersion, storage.MetadataType.Kind
	}
	return res.GVK.GroupVersion().String(), res.Kind
}

// item encodes an object as an item of a list.
func (f format) item(rev *storage.Revision) []byte {
	switch {
	case f.metadata && f.protobuf:
		return rev.MetadataProto()
	case f.metadata:
		return rev.MetadataJSON()
	case f.protobuf:
		return rev.Stored
	default:
		return rev.ItemJSON()
	}
}

// typed reports whether items of a list in JSON have kind and apiVersion.
func (f format) typed(res *storage.Resource) bool { return f.metadata || !res.Protobuf() }

// appendObject appends an object on its own, outside of a list.
func (f format) appendObject(b []byte, rev *storage.Revision) []byte {
	if f.table {
		return append(b, apiobject.MustJSON(f.tableOf(rev))...)
	}
	item := f.item(rev)
	apiVersion, kind := f.typeOf(rev.Res)
	switch {
	case f.protobuf:
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

// appendEvent appends one event of a watch: a line of JSON, or a frame of
// protobuf.
func (f format) appendEvent(b []byte, eventType string, rev *storage.Revision) []byte {
	if !f.protobuf {
		b = append(b, `{"type":"`...)
		b = append(b, eventType...)
		b = append(b, `","object":`...)
		b = f.appendObject(b, rev)
		return append(b, '}', '\n')
	}
	apiVersion, kind := f.typeOf(rev.Res)
	item := f.item(rev)
	b = appendFrame(b, eventType, envelopeSize(apiVersion, kind, len(item)))
	return f.appendObject(b, rev)
}

// appendError appends the event that ends a watch with an error.
func (f format) appendError(b []byte, status metav1.Status) []byte {
	if f.protobuf {
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
	b = appendProtoString(b, 0x0a, eventType)
	b = binary.AppendUvarint(append(b, 0x12), uint64(raw))
	return binary.AppendUvarint(append(b, 0x0a), uint64(size))
}

// appendEnvelope appends the beginning of a protobuf body. The object that follows has size bytes.
// After the object, the caller appends apiobject.EnvelopeEnd.
func appendEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, apiobject.ProtobufMagic...)
	b = binary.AppendUvarint(append(b, 0x0a), uint64(typeMetaSize(apiVersion, kind)))
	b = appendProtoString(b, 0x0a, apiVersion)
	b = appendProtoString(b, 0x12, kind)
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

func appendProtoString(b []byte, tag byte, s string) []byte {
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
