// Package discovery reads the groups, versions and resources of an API server.
//
// Names, signatures and results are the same as in client-go's package. A server with aggregated
// discovery gets two requests, for /api and /apis. Any other server also gets a request for each
// group version. If a part cannot be read, the rest is returned together with an
// *ErrGroupDiscoveryFailed.
//
// This package differs from client-go's in five ways:
//
//  1. A name from the server could lead a request to another path, for example ".." or a name with
//     a slash. The group version of this name fails, and is not requested.
//  2. A legacy server gets at most 64 concurrent requests.
//  3. A document with a million objects, or ten thousand group versions, is an error.
//  4. A version that the server marks as stale stays a failure, even if its resources are requested
//     one by one.
//  5. The client's codec knows the types of discovery only. Other types are decoded into the object
//     that the caller passes.
package discovery
