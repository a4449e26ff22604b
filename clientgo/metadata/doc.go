// Package metadata has a client for the metadata of objects of any type. A server that can sends the metadata alone, in
// protobuf: lists and watches of large objects are a fraction of what they are otherwise.
package metadata
