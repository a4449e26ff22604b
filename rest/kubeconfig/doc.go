// Package kubeconfig reads the address of an API server, and credentials for the server, from the
// files that kubectl uses.
//
// [Load] returns a [Connection]: a [rest.Config] for [rest.NewClient], the namespace and the
// context. [Write] saves a Connection as a file that [Load] and kubectl read. The package is
// separate from package rest, so that only programs that read kubeconfig files link a YAML parser.
//
// # Which files
//
// The rules are kubectl's
// (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/):
//
//   - If Options.Path is set, Load reads only this file. The file must exist.
//   - Otherwise Load reads the existing files of the environment variable KUBECONFIG. The first
//     file that has an entry (a cluster, user or context) wins, and so does the first file with
//     current-context. The fields of one entry never come from several files.
//   - Without KUBECONFIG, Load reads .kube/config in the home directory.
//   - A relative path in a file is relative to the folder of that file. This includes the command
//     of an exec plugin, if it is a path.
//   - Unknown fields are ignored.
//   - If there is no current context, and Options have neither a path nor a context, Load uses the
//     service account of the process's pod.
//
// Like kubectl, Load uses credentials only if the server's address is https: the client never sends
// a token without encryption.
//
// # Guarantees
//
//   - An error names the file and the entry, and says what to do.
//   - An error never quotes a value that may be secret. Messages of the YAML parser quote
//     values, so an error about bad YAML has only the line.
//   - A user with an auth provider is an error. Load does not support auth providers, and without
//     the provider the client would be another user.
//   - Load starts no exec plugin. The client starts the plugin when it needs a credential; see
//     package execauth. If the user also has a token, a name or a certificate, the client uses
//     these instead, like kubectl, and the plugin never starts.
//   - The [rest.Config] has the paths of certificate, key and token files, so that package rest can
//     reload renewed files.
package kubeconfig
