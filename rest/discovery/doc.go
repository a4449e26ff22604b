// Package discovery asks an API server which resources it has, and finds the one
// that a person means by "deploy", "Pod" or "certificates.cert-manager.io".
//
// [Resources] asks the server. [Find] searches the answer, without the network. A [Mapper]
// does both, for a program that runs for long: it remembers the answer, and asks again when
// a name is missing in it, but not too often.
//
// # Guarantees
//
//   - Two requests are enough if the server has aggregated discovery (KEP-3352,
//     Kubernetes 1.30 and later). For other servers, it sends one request for each group
//     version, the legacy way; the result is the same.
//   - A group that cannot be read, because the server behind it is down, hides no other
//     group: the other resources are returned beside an [*Error] that names the group.
//   - Resources come in kubectl's order of preference: the core group first, then
//     groups as the server ranks them; in a group the preferred version first.
//   - Subresources, such as pods/log, are left out.
//   - No answer of a server causes a panic.
//
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
// describes both forms of discovery.
package discovery
