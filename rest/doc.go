// Package rest lists, watches and changes the objects of a Kubernetes API server. The client uses
// net/http, protobuf and JSON, without client-go.
//
// [NewClient] makes a [Client] from a [Config]. [For] makes a [Resource] from a Client, for a
// built-in type, a user's type, or unstructured objects. A Resource is a [listwatch.Source] for a
// reflector. For controllers, a Resource has the verbs Get, Create, Update, UpdateStatus, Patch,
// ServerSideApply, Delete and DeleteCollection. [NewSubresource] is for subresources that have
// their own type: scale, eviction, binding, token. Every verb that writes has an option for a dry
// run.
//
// # Streams
//
// The client reads a list item by item, like a watch. Three parts work at the same time:
//
//	network --> reader: fills a buffer, cuts it into frames
//	                  --> workers: identity, Known?, decode      (up to 8)
//	                                    --> Next, in the order of the wire
//
// A frame is the bytes of one item or event. The reader finds frames by parsing the envelope around
// them, and does not copy them. All frames that arrived together go to a worker in one buffer, so
// that they share the cost of a switch to another core. Next returns an event that arrives alone at
// once. The bytes of a list are never in memory all at once. If nobody calls Next, the reader stops
// reading.
//
// plain/client.go is the textbook version: one goroutine reads and decodes, with encoding/json. The
// first sync of 20,000 pods takes 2.14 s there, and 0.59 s here; a watch hands out 5,632 events per
// second there, and 38,752 here (plain/README.md).
//
// # Packages
//
//   - This package: [Client] and its options, [Resource], the verbs, lists and watches, errors.
//   - internal/auth: credentials from token files, and from functions such as exec plugins.
//   - internal/budget: estimates the memory of an object before anything decodes it.
//   - internal/decode: bytes of objects and events become values; the choice of the decoder.
//   - internal/redact: hides tokens, passwords and keys in texts.
//   - internal/transport: connections, TLS, proxies, compression, and the reloading of files.
//   - internal/wire: framing and scanning of JSON and protobuf, for this package and sharing.
//   - sharing: the decoder that lets objects share their equal parts.
//   - kubeconfig: a Config from a kubeconfig file. execauth: credentials from a plugin.
//   - discovery: the resources that a server has. finalizer: finalizers of objects.
//
// # Guarantees
//
//   - Next returns io.EOF only at an orderly end: for a list, after its envelope was complete; for
//     a watch, between two events of a body that the server ended. If the response was cut off,
//     Next returns another error.
//   - Every failure is an [*Error], which names the request and unwraps to the reason. The
//     predicates of k8s.io/apimachinery/pkg/api/errors work on every failure that the server
//     reports: by a Status, by an ERROR event, or only by a code. SuggestsClientDelay works as
//     well, if the response had a Retry-After, in seconds or as a date.
//   - If the response does not come from an API server (the page of a proxy, a Table, an empty
//     body), the error wraps [ErrMalformed]. The error also wraps ErrMalformed if a response or an
//     event has an object of another kind than the Resource. So a ConfigMap is not decoded as a
//     Secret, although its bytes fit, and an object with only metadata is not decoded as a pod. See
//     [ResourceOptions].Kind.
//   - With TLS, bytes that were changed in transit end the connection. Without TLS, the client
//     notices only malformed responses: HTTP has no checksum, and an inverted bit may result in
//     another object or another version.
//   - An object that cannot be decoded, or whose decoding panics, becomes a
//     [*listwatch.ObjectError], and the stream goes on. So does an object larger than
//     [Options].MaxObjectBytes ([ErrTooLarge]), of which the client holds at most MaxObjectBytes
//     bytes. In JSON, the object's name may come after these bytes. Then the error has no name, and
//     a reflector deletes nothing.
//   - Every decode has a budget, which is enforced before any decoder runs. An object takes at most
//     [Options].MaxExpansion times its bytes and at most MaxObjectMemory, and is no deeper than
//     MaxDepth. A compressed list becomes at most MaxCompression times its bytes. A response that
//     is silent for MaxSilence ends. Headers, warnings and messages of a server are truncated.
//   - Memory grows with the bytes that have arrived, never with a length that the server claims. A
//     list, with all its pages, has at most [Options].MaxListBytes bytes. In JSON, the other fields
//     of a list (all except its items) have at most 1 MiB together. A list with two "items" fields
//     is malformed.
//   - The time of decoding also grows only with the bytes that have arrived. apimachinery needs
//     hours to parse a resource.Quantity such as 1e-1000000000. The client decodes such a quantity
//     at once, with the same result (a value below 1n is rounded up). A quantity of 1e2000 or more
//     becomes 1e2000, because a comparison of larger ones would take hours as well. (An API server
//     parses the quantities of built-in types before it stores them, but not the quantities of a
//     custom resource.) A user's method UnmarshalJSON may parse any text as a quantity. If its
//     input has an extreme text, the client first calls the method with a harmless text instead. If
//     the method refuses the harmless text, or does not return within five seconds, the object is
//     undecodable. The client does not protect a user's [Decoder] from quantities.
//   - The end of a context ends a blocked Next at once. Closing a stream waits only for the
//     stream's goroutines. After [Client.Close] no connection is left.
//   - Messages of errors, printed configurations and logs contain no token,
//     password or key.
//
// # Encodings
//
// A Resource requests protobuf if its type can decode it, and JSON as the second choice, unless
// [ResourceOptions].Encoding says otherwise. The Content-Type of the response says which encoding
// it has. JSON is decoded by apimachinery's rules: keys are case-sensitive and integers stay
// integers. The client sends bodies in JSON. It requests compressed lists (gzip) unless the server
// is on loopback, and never a compressed watch; see [Config].Compression.
//
// # Identity and trust
//
// A client authenticates by a bearer token, by a name and a password, by a client certificate, or
// by the function [Config].Credentials. The token may be in a file. It may act as another user
// ([Config].Impersonate). It reloads the files of tokens, certificates and CA bundles without a
// restart. While a file cannot be used, its last good content stays in use. TLS is at least 1.2,
// and the server is verified unless [TLSConfig].Insecure is set.
//
// The client notices a server that vanishes without closing its connections: on HTTP/2 within 45
// seconds, by an unanswered ping, and on HTTP/1 by TCP. On HTTP/1, a reflector notices it as well,
// by its limit for silent watches.
//
// # Objects that share
//
// Objects of lists and watches share their equal parts: the pods of one ReplicaSet have one list of
// tolerations in memory, and two versions of a pod share the unchanged parts. Sharing halves the
// memory of a cache and the time of a first sync. As in any informer cache, a shared object must
// not be changed in place; change a DeepCopy instead. The verbs (Get, Update and all others) return
// objects that belong to the caller, who may change them and send them back. Package rest/sharing
// has the full contract; [ResourceOptions].Unshared switches sharing off.
//
// # Less memory
//
// A cache can hold less of each object. There are two ways, the more effective one first:
//
//   - T can be a type with few fields: *metav1.PartialObjectMetadata, for which the server sends
//     only metadata, or a user's struct.
//   - [Omit] removes unused parts from the bytes of objects.
//
// Both are for List and Watch. The other verbs return whole objects.
//
// # Politeness
//
// The client retries a verb if the server requests a retry, or if a GET lost its connection; see
// [Error] and [Options].MaxRetries. It does not retry lists and watches, because a reflector has
// its own backoff. There is no client-side rate limit unless [Options].Limit is set: API servers
// protect themselves by priority and fairness. The client logs each warning of a server once, and
// calls [Observer].OnWarning each time.
package rest
