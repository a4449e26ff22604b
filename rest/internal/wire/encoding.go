package wire

// Encoding is an encoding of objects.
type Encoding uint8

// These are the encodings of objects. The zero value is no encoding.
const (
	JSON Encoding = iota + 1
	Protobuf
)
