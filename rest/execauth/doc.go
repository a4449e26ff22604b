// Package execauth gets credentials from an exec plugin: a command that prints them, such as the
// command-line tools of clouds (aws, gke-gcloud-auth-plugin, kubelogin).
//
// [New] makes a [Plugin] from a command. Its method [Plugin.Credential] is for the field
// Credentials of [rest.Config]. Package kubeconfig does both for the user of a kubeconfig. Package
// execauth is separate from package rest, so that only programs with plugins link the code that
// starts processes.
//
// # Protocol
//
// The protocol is client.authentication.k8s.io/v1 or v1beta1
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
// The command gets an ExecCredential in the variable KUBERNETES_EXEC_INFO, and prints one with a
// token, a client certificate with its key, or both.
//
// # Guarantees
//
//   - A Plugin uses a credential until shortly before its expirationTimestamp or the end of its
//     certificate, so that it does not expire in transit. The margin is a tenth of the lifetime
//     that the credential had when the plugin printed it, but at most ten seconds. If the server
//     responds with 401, the Plugin gets another credential. The client then retries a verb once,
//     with the next credential. A list or a watch fails, and the next list or watch uses the next
//     credential.
//   - One process runs at a time. Callers that need a credential meanwhile wait for the process.
//     All of them get its result, whether it is a credential or an error.
//   - A pause of a second follows an unsuccessful run. With each consecutive unsuccessful run the
//     pause doubles, up to ten seconds. (A run is unsuccessful if it failed, if its credential has
//     expired already, or if it replaces a refused credential.) During the pause, every caller gets
//     the result of the last run, and no process starts.
//   - When the context of a caller ends, the Plugin kills the process that this caller started. If
//     other callers wait for the process, one of them starts the next process.
//   - If [Options].Policy does not allow the command, no process starts.
//   - An error has the text that the command wrote to its standard error, without control
//     characters and without words that look like secrets. It never has the standard output. If the
//     command is missing, the error contains the InstallHint.
package execauth
