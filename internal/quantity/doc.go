// Package quantity has a resource.Quantity decoded in bounded time, whatever its text.
//
// apimachinery needs hours for the text 1e-1000000000, and as long to compare the
// quantity that it makes of 1e1000000000 with another one. [Parse] makes the same of a
// text as apimachinery does, in time that grows with its length: below 1n it is rounded
// up, and what is 1e2000 or more, or less than -1e2000, ends there. (Quantities with a
// binary suffix end at 2^63-1, which is apimachinery's own rule.)
//
// Most decoders do not ask Parse, but apimachinery. For these, [Protobuf] and [JSON]
// replace the text of quantities in an encoded object before it is decoded, and leave
// alone what only looks like one, such as an annotation.
package quantity
