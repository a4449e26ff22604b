// Package metadata has a client for the metadata of objects of any type. If the server supports it,
// responses have only the metadata, in protobuf. Lists and watches of large objects then need only
// a fraction of the bytes.
package metadata
