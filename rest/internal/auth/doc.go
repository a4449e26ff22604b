// Package auth gets the credentials of requests from sources that change.
//
//   - [Source] calls the function of a program, such as the entry of an exec plugin.
//   - [TokenFile] reads a token from a file that another program replaces.
//
// Package rest makes them from its Config, and applies their credentials to requests.
//
// # Guarantees
//
//   - Calls of a program's function do not overlap. A call that outlives its request serves the
//     next request.
//   - A credential that a server has refused is not used by requests that start after the refusal,
//     if the function returns another one.
//   - While a token file cannot be read, its last good token stays in use.
//   - Printing a value of this package shows no token.
package auth
