// Package discovery asks an API server which groups, versions and resources it has.
//
// The names, signatures and answers are those of client-go's package. A server with aggregated discovery is asked twice, for /api and
// /apis; another one is asked for each group version besides. A part that cannot be read hides no other part: the rest is returned
// beside an *ErrGroupDiscoveryFailed.
//
// Where this package differs on purpose: a name in a server's answer that could lead a request to another path ("..", or one with a
// slash) is reported as a failure of that group version, and not requested. A legacy server gets at most 64 requests at once. A
// document with a million objects, or ten thousand group versions, is refused. A version that the server calls stale stays a failure also
// where the resources have to be asked for one by one. The client's codec knows the types of discovery; other types are decoded into
// the object that the caller names.
package discovery
