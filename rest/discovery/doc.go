// Package discovery asks an API server which resources it has, and finds the one
// that a person means by "deploy", "Pod" or "certificates.cert-manager.io".
//
// [Resources] asks; [Find] searches what was found, without the network. A [Mapper]
// does both for a program that runs for long: it remembers, and asks again, not too
// often, when something is not there.
//
// # Guarantees
//
//   - Two requests are enough where the server has aggregated discovery
//     (KEP-3352, Kubernetes 1.30 and later). Other servers are asked one group
//     version at a time, the legacy way; the result is the same.
//   - A group that cannot be read, because the server behind it is down, hides no
//     other group: what was found is returned beside an [*Error] that names what
//     was not.
//   - Resources come in kubectl's order of preference: the core group first, then
//     groups as the server ranks them; in a group the preferred version first.
//   - Subresources, such as pods/log, are left out.
//   - No answer of a server makes it panic.
//
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
// describes both forms of discovery.
package discovery
