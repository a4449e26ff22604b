// Package wire parses the responses of an API server, without decoding their objects.
//
//   - A [Framer] finds the frames of a list or a watch while bytes arrive. A frame has the bytes of
//     one object or one event. See [NewJSONList], [NewJSONWatch], [NewProtobufList] and
//     [NewProtobufWatch].
//   - [JSONScan], [JSONFields] and [JSONText] find values in JSON. [NextField],
//     [BytesField] and [Unwrap] find fields in protobuf.
//   - [StringEnd], [NumberEnd] and [ValueEnd] check a value in JSON while they find its end.
//     [Varint], [Contents] and [SkipField] read protobuf in the same way as generated code does.
//     They are for package sharing, whose decoders get whole objects.
//   - [ErrMalformed] and [ErrTooLarge] are also rest.ErrMalformed and rest.ErrTooLarge.
//
// Each encoding has two parsers with opposite duties. The parser of the framers is incremental: it
// can parse input before all of it has arrived. It examines as few bytes as possible, and leaves
// mistakes to the decoder. In protobuf, it refuses groups and varints of more than 64 bits, because
// the length of a frame must be certain. The parser of the decoders gets all bytes of an object. It
// must accept and refuse exactly the same input as encoding/json and generated code. So in protobuf
// it skips groups, and drops bits beyond the 64th.
//
// Results are slices of the input. Only the text of a JSON string with escapes is a copy.
//
// # Guarantees
//
//   - No input causes a panic. A Framer reads each byte once, for any division of the bytes into
//     pieces.
//   - Memory does not depend on a length that the bytes claim.
package wire
