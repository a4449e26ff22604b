package apiobject

// A protobuf body is the magic number and a runtime.Unknown: the type, the length of the object,
// the object, and two empty strings.
const (
	ProtobufMagic = "k8s\x00"
	EnvelopeEnd   = "\x1a\x00\x22\x00"
)
