// Package wire takes apart what an API server sends, without decoding the objects in it.
//
//   - A [Cutter] finds the frames of a list or a watch, each the bytes of one object or
//     one event, while bytes arrive: [NewJSONList], [NewJSONWatch], [NewProtobufList],
//     [NewProtobufWatch].
//   - [JSONScan], [JSONFields] and [JSONText] find values in JSON. [NextField],
//     [BytesField] and [Unwrap] find fields in protobuf.
//   - [StringEnd], [NumberEnd] and [ValueEnd] check a value in JSON while they find its end,
//     and [Varint], [Contents] and [SkipField] read protobuf as generated code does. They are
//     for decoders, which take what is whole: package sharing.
//   - [ErrMalformed] and [ErrTooLarge] are what package rest hands out under its own name.
//
// Each encoding has two readers, for they have opposite duties. That of the cutters goes on
// where bytes are still missing, looks at as few bytes as it can, and leaves it to the
// decoder to find mistakes; in protobuf it refuses groups and varints of more than 64 bits,
// as the length of a frame must be beyond doubt. That of the decoders is given all bytes of an
// object, and must take and refuse exactly what encoding/json and generated code take and
// refuse: it skips groups and drops bits beyond the 64th.
//
// The results are parts of the bytes that were given: nothing is copied, but for a JSON
// string with escapes.
//
// # Guarantees
//
//   - Whatever the bytes are, nothing panics, and no byte is looked at twice by a Cutter
//     when more have arrived.
//   - Memory does not depend on a length that was claimed.
package wire
