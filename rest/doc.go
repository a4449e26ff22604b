// Package rest lists, watches and changes the objects of a Kubernetes API server:
// a client over net/http, in protobuf and JSON, without client-go.
//
// [NewClient] makes a [Client] of a [Config]. [For] makes a [Resource] of it, for a
// built-in type, a type of one's own, or unstructured objects. It is a [listwatch.Source], for a reflector, and has Get, Create, Update,
// UpdateStatus, Patch, ServerSideApply, Delete and DeleteCollection, for a
// controller. [NewSubresource] has what is of another type: scale, eviction, binding,
// token. Every verb that writes can be a dry run, by its options.
//
// # Streams
//
// A list is read like a watch, item by item. Three parts work on it at once:
//
//	network --> reader: fills a buffer, cuts it into frames
//	                  --> workers: identity, Known?, decode      (up to 8)
//	                                    --> Next, in the order of the wire
//
// A frame is the bytes of one item or event, found by walking the envelope around
// it and never copied. Frames travel in the buffer they arrived in, so that the
// cost of going from one core to another is shared by all that arrived together,
// while an event that arrived alone is handed out alone, and at once. No list is
// ever held whole, and a reader that is not read from stops reading.
//
// plain/client.go reads and decodes in one goroutine, with encoding/json: the first sync
// of 20,000 pods takes 2.14 s there, and 0.59 s here (plain/README.md).
//
// # Rooms
//
//   - This package: [Client] and its options, [Resource], the verbs, lists and watches, errors.
//   - internal/transport: connections, TLS, proxies, and the reading of files again.
//   - internal/wire: framing and scanning of JSON and protobuf, for this package and sharing.
//   - sharing: the decoder of objects that share what is equal in them.
//   - kubeconfig and execauth: a Config of a file, and credentials of a plugin.
//   - discovery: which resources a server has. finalizer: finalizers of objects.
//
// The textbook's counterpart is plain/client.go, where one goroutine reads and decodes JSON.
// That was not enough: its watch hands out 5,632 events per second, and this one 38,752
// (plain/README.md).
//
// # Guarantees
//
//   - io.EOF is the answer of Next only at an orderly end: for a list, after its
//     envelope was complete; for a watch, between two events of a body that the
//     server ended. Anything cut off is an error.
//   - Every failure is an [*Error] that names the request and unwraps to the
//     reason. What the server said, in a Status, in an ERROR event or only by a
//     code, satisfies the predicates of k8s.io/apimachinery/pkg/api/errors, and
//     SuggestsClientDelay where it came with a Retry-After of either form. What is
//     no answer of an API server, such as the page of a proxy, a Table or an empty
//     body, wraps [ErrMalformed]. So does what is of another kind than the Resource, in
//     any answer or event: a ConfigMap is no Secret, though its bytes fit, and metadata
//     alone is no pod. See [ResourceOptions].Kind.
//   - With TLS, bytes that were changed on their way end the connection. Without, what
//     is malformed is noticed, and nothing else: HTTP has no checksum, and a bit that
//     is inverted may make another object, or another version of it.
//   - One object that cannot be decoded, or whose method panics, is a
//     [*listwatch.ObjectError], and the stream goes on. So is one that is larger
//     than [Options].MaxObjectBytes ([ErrTooLarge]), of which no more is held. If in
//     JSON so much does not tell its name, the error has none: a reflector then
//     deletes nothing.
//   - Every decode has a budget, which is enforced before any decoder runs: an object
//     takes at most [Options].MaxExpansion times its bytes and MaxObjectMemory, and is
//     no deeper than MaxDepth; a compressed list becomes at most MaxCompression times its
//     bytes; an answer that stops for MaxSilence ends. Headers, warnings and what a
//     server says in words are cut.
//   - Memory grows with bytes that have arrived, never with a length that was
//     claimed. A list, with all its pages, has no more of them than
//     [Options].MaxListBytes.
//   - Time grows with them as well. A resource.Quantity such as 1e-1000000000, which
//     apimachinery needs hours to parse, is decoded at once into what apimachinery
//     would make of it: below 1n it is rounded up. What is 1e2000 or more is 1e2000, for
//     to compare it with another quantity would take as long. (An API server parses the
//     quantities of its own types before it stores them, but not those of a custom
//     resource.) A method UnmarshalJSON of the user's may take any text for a quantity:
//     if there is such a text in what it decodes, it must accept another one in its
//     place, or the object is refused, and be done within five seconds. A [Decoder] of
//     the user's is on its own.
//   - The end of a context ends a blocked Next at once. Close of a stream waits
//     for its goroutines, and for nothing else. After [Client.Close] no connection
//     is left.
//   - Messages of errors, printed configurations and logs contain no token,
//     password or key.
//
// # Encodings
//
// Protobuf is preferred for types that can decode it, JSON is always acceptable
// unless [ResourceOptions].Encoding says otherwise, and the Content-Type of the
// answer decides. JSON is decoded by apimachinery's rules: keys are case-sensitive
// and integers stay integers. Bodies that are sent are JSON. Lists are compressed
// (gzip) unless the server is on loopback, watches never; see [Config].Compression.
//
// # Identity and trust
//
// A client shows a bearer token, from a file or not, a name and password, a client
// certificate, or what [Config].Credentials provides, and may act as somebody else
// ([Config].Impersonate). Files of tokens, certificates and authorities are read
// again without a restart, and what was good stays in use while they are not. TLS
// is verified unless told otherwise, and at least 1.2.
//
// A server that is gone without a word is noticed: on HTTP/2 by a ping that is not
// answered, within 45 seconds, and on HTTP/1 by TCP, or by a reflector's patience
// with a silent watch.
//
// # Objects that share
//
// Lists and watches make objects that share what is equal in them: the pods of one
// ReplicaSet have one list of tolerations, and two versions of a pod have whatever has not
// changed. That halves the memory of a cache and the time of a first sync. Such an object
// must never be changed in place, as an object of any cache; DeepCopy makes one's own.
// The verbs (Get, Update and all others) answer with objects of the caller's own, to be
// changed and sent back. Package rest/sharing has the contract in full, and
// [ResourceOptions].Unshared is the way out.
//
// # Less memory
//
// What a cache holds of each object can be made smaller yet, in this order:
//
//   - T can be a type with few fields: *metav1.PartialObjectMetadata, for which the
//     server sends nothing else, or a struct of one's own.
//   - [Omit] removes what nobody reads from the bytes of objects.
//
// Both are for List and Watch. The other verbs answer with whole objects.
//
// # Politeness
//
// Verbs are repeated where the server asks for it or a GET lost its connection, see
// [Error] and [Options].MaxRetries; lists and watches are not, for a reflector waits
// and goes on by itself. There is no client-side rate limit: no rate is limited unless [Options].Limit does it, for API
// servers defend themselves with priority and fairness. Their warnings go to the
// Logger, each once, and to [Observer].OnWarning, always.
package rest
