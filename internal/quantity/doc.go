// Package quantity decodes every text of a resource.Quantity in bounded time.
//
// apimachinery needs hours to parse the text 1e-1000000000, and hours to compare the quantity
// 1e1000000000 with another quantity. [Parse] returns the same quantity as apimachinery, in a time
// that grows with the length of the text. Parse rounds a value below 1n up to 1n. The largest value
// is 1e2000, and the smallest -1e2000. (With a binary suffix, the largest is 2^63-1, by
// apimachinery's own rule.)
//
// Most decoders call apimachinery instead of Parse. For such decoders, a [Guard] replaces the texts
// of extreme quantities in an encoded object, before the object is decoded. It does not change
// other texts that look like quantities, such as an annotation.
package quantity
