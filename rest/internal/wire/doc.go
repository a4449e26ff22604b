// Package wire takes apart what an API server sends, without decoding the objects in it.
//
//   - A [Cutter] finds the frames of a list or a watch, each the bytes of one object or
//     one event, while bytes arrive: [NewJSONList], [NewJSONWatch], [NewProtobufList],
//     [NewProtobufWatch].
//   - [JSONScan], [JSONFields] and [JSONText] find values in JSON. [NextField],
//     [BytesField] and [Unwrap] find fields in protobuf.
//   - [ErrMalformed] and [ErrTooLarge] are what package rest hands out under its own name.
//
// Whatever these functions return is a part of the bytes that they were given: nothing is
// copied, but for a JSON string with escapes. They check what they need to find the next
// byte of interest, and leave everything else to the decoder of the object.
//
// # Guarantees
//
//   - Whatever the bytes are, nothing panics, and no byte is looked at twice by a Cutter
//     when more have arrived.
//   - Memory does not depend on a length that was claimed.
package wire
