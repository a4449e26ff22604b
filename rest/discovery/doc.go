// Package discovery gets the list of an API server's resources, and finds the resource that a
// person means by "deploy", "Pod" or "certificates.cert-manager.io".
//
// [Resources] requests the list from the server. [Find] searches the list, without the network. A
// [Mapper] does both, for a long-running program: it caches the list, and refreshes it when a name
// is missing, but not too often.
//
// # Guarantees
//
//   - A discovery needs two requests if the server has aggregated discovery (KEP-3352, Kubernetes
//     1.30 and later). For other servers, it sends one request for each group version, in the
//     legacy way, with the same result.
//   - If the server behind a group is down, Resources still returns the resources of all other
//     groups. It also returns an [*Error] that names the failed group.
//   - Resources come in kubectl's order of preference: first the core group, then groups in the
//     server's order. In each group, the preferred version comes first.
//   - Subresources, such as pods/log, are left out.
//   - No response of a server causes a panic.
//
// https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
// describes both forms of discovery.
package discovery
