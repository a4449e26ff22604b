// Package tcpproxy breaks connections on purpose, for tests. A [Proxy] forwards bytes between clients and
// a server. For each connection, a [Fault] says how it goes wrong: it is reset, it falls silent and stays
// open (half-open), the server's bytes come one at a time, they end anywhere, or one bit is wrong.
//
// A proxy listens on TCP, or hands out connections inside the process, which work
// in a bubble of testing/synctest. It knows nothing of what it forwards.
package tcpproxy
