// Package disk remembers what an API server has in files, for programs that run often and briefly, as kubectl and its plugins do.
//
// A directory has servergroups.json, and for each group version a serverresources.json. Names and contents are those of client-go's
// package, so that programs of both kinds can share a directory. Above the files there is a memory cache.
//
// With a directory for answers of the server, documents that the server allows to be kept are kept there: those with an ETag are asked
// for with it, and those that stay as they are (OpenAPI v3) are not asked for again. These files are of another form than client-go's,
// under other names.
//
// It differs from client-go's package where that has defects. A name of a server cannot lead to a file outside of the directory. A
// file that is empty or of another kind is no answer. The document of a path takes the place of the path's earlier one, so that the
// directory does not grow with each change of an API. Credentials and cookies are not kept.
package disk
