// Package execauth gets credentials from an exec plugin: a command that prints
// them, as the clouds' command lines do (aws, gke-gcloud-auth-plugin, kubelogin).
//
// [New] makes a [Plugin] of the command, and its method [Plugin.Credential] is for
// the field Credentials of [rest.Config]. Package kubeconfig does both for the
// user of a kubeconfig. The package is apart from package rest so that only who
// wants plugins links the code that starts processes.
//
// # Protocol
//
// That of client.authentication.k8s.io/v1 and v1beta1
// (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
// The command gets an ExecCredential in the variable KUBERNETES_EXEC_INFO, and
// prints one with a token, a client certificate with its key, or both.
//
// # Guarantees
//
//   - A credential is used until its expirationTimestamp or its certificate's end,
//     less a tenth of the time that it had when it came, at most ten seconds, so
//     that it does not expire on its way; and until a server answers 401 to it.
//     A verb with that answer is made once more, with the next credential; a list or a
//     watch fails, and whoever repeats it has the next credential then.
//   - One process runs at a time, whoever needs a credential meanwhile waits for
//     it, and all of them get its result, be it a credential or an error.
//   - A run that did not help (it failed, its credential has expired already, or
//     replaces one that was refused) is followed by a pause of a second, the next in
//     a row by two, up to ten. Until it is over, everybody gets what that run
//     brought, be it an error, and no process is started.
//   - The end of the context with which a process was started kills it. If others
//     wait for it, one of them starts the next one.
//   - Where [Options].Policy does not allow the command, nothing is started.
//   - An error says what the command wrote to its standard error, without what
//     looks like a secret and without control characters, and never what it wrote
//     to its standard output. Where the command is missing, it says how to get it.
package execauth
