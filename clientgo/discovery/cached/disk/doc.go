// Package disk caches discovery documents of an API server in files. It is for programs that run
// often and briefly, like kubectl and its plugins.
//
// A directory has a servergroups.json, and a serverresources.json for each group version. Names and
// contents are the same as in client-go's package, so programs built with either library can share
// a directory. The client also caches the documents in memory.
//
// With an HTTP cache directory, the client also stores HTTP responses that the server allows to be
// stored. If a stored document has an ETag, the client sends the ETag, and the server sends the
// document only if it has changed. An immutable document (OpenAPI v3) is not requested again. The
// format and names of these files differ from client-go's.
//
// This package avoids four defects of client-go's package. A name from a server cannot lead to a
// file outside of the directory. An empty file, or a file of another kind, does not count as a
// document. A new document replaces the earlier document of the same path, so the directory does
// not grow with each API change. Credentials and cookies are not stored.
package disk
