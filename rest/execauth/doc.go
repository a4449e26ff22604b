// Package execauth gets credentials from an exec plugin: a command that prints them, such
// as the command lines of clouds (aws, gke-gcloud-auth-plugin, kubelogin).
//
// [New] makes a [Plugin] from a command. Its method [Plugin.Credential] is for the field
// Credentials of [rest.Config]. Package kubeconfig does both for the user of a kubeconfig.
// The package is apart from package rest, so that only programs with plugins link the code
// that starts processes.
//
// # Protocol
//
// The protocol is client.authentication.k8s.io/v1 or v1beta1
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
// The command gets an ExecCredential in the variable KUBERNETES_EXEC_INFO, and prints one
// with a token, a client certificate with its key, or both.
//
// # Guarantees
//
//   - A credential is used until its expirationTimestamp or the end of its certificate,
//     less a margin, so that it does not expire on its way: a tenth of the time that it had
//     when it came, but at most ten seconds. A 401 of a server ends it at once. The client
//     retries a verb with that answer once, with the next credential. A list or a watch
//     fails, and the next one has the next credential.
//   - One process runs at a time. Callers that need a credential meanwhile wait for it, and
//     all get its result, be it a credential or an error.
//   - After a run that did not help, a pause of a second follows, and after the next one in
//     a row a pause of two, up to ten. (It did not help if it failed, if its credential has
//     expired already, or if it replaces a refused one.) Until the pause is over, every
//     caller gets the result of that run, and no process starts.
//   - A process is killed when the context of the caller that started it ends. If other
//     callers wait for it, one of them starts the next process.
//   - If [Options].Policy does not allow the command, no process starts.
//   - An error has the text that the command wrote to its standard error, without control
//     characters and without words that look like secrets. It never has the standard
//     output. If the command is missing, the error says how to get it.
package execauth
