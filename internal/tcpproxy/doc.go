// Package tcpproxy breaks connections on purpose, for tests: a [Proxy] forwards
// bytes between clients and a server, and for each connection a [Fault] says what
// goes wrong with what the server sends: it is reset, it falls silent without a
// word (half-open), it comes one byte at a time, it ends anywhere, or a bit of it
// is wrong.
//
// A proxy listens on TCP, or hands out connections inside the process, which work
// in a bubble of testing/synctest. It knows nothing of what it forwards.
package tcpproxy
