// Package kubeconfig finds out which API server to talk to, and as whom, from
// the files that kubectl uses.
//
// [Load] answers with a [Connection]: a [rest.Config] for [rest.NewClient], the
// namespace and the context. [Write] saves a Connection as a file that [Load]
// and kubectl read. The package is apart from package rest so that only
// programs that read kubeconfig files link a YAML parser.
//
// # Which files
//
// The rules are kubectl's
// (https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/):
//
//   - Options.Path alone, if it is given. It must exist.
//   - Otherwise the files that the environment variable KUBECONFIG lists, those
//     that exist. For each cluster, user and context, and for current-context,
//     the first file that has it wins; entries are never mixed.
//   - Otherwise .kube/config in the home directory.
//   - A relative path in a file is relative to the folder of that file, and so is
//     the command of an exec plugin, if it is a path.
//   - Unknown fields are ignored.
//   - Where that gives no context to use, and neither a path nor a context was
//     asked for, the service account of the pod that the process runs in.
//
// Credentials are used only when the server's address is https, as kubectl does:
// a token is never sent in the clear.
//
// # Guarantees
//
//   - An error names the file, the entry and what to do about it.
//   - An error never quotes a value that may be secret, also not by way of the
//     YAML parser, whose messages quote what they stumbled over. Of bad YAML only
//     the line is told.
//   - A field that would change who the user is, and that is not supported (auth
//     providers), is an error: it is never passed over in silence.
//   - Load starts no exec plugin. The client does, when it needs a credential; see
//     package execauth. A user with a token, a name or a certificate besides is
//     who those say, as for kubectl, and the plugin is not started.
//   - Certificates, keys and tokens given as files stay files in the [rest.Config], so
//     that package rest sees when they are renewed.
package kubeconfig
