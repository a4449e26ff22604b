// Package redact hides secrets in texts: tokens, passwords and keys.
//
//   - [Hidden] is a secret that the program holds. Printing it shows only an address.
//   - [Redactor] replaces the secrets that a client has sent, in texts that come back: the messages
//     of servers and proxies, errors and warnings.
//   - [URL] returns a URL for messages.
//
// Package rest builds its public Secret on Hidden. Each Client has one Redactor.
//
// # Guarantees
//
//   - A Redactor finds a secret in the escapes of URLs, JSON, Go and HTML, in base64, and broken
//     into lines. It also finds the first eight characters of a truncated secret.
//   - It remembers the last 16 secrets.
//   - An error that [Redactor.Err] returns still works with errors.Is. errors.As finds only errors
//     within it whose texts have no secret.
package redact
