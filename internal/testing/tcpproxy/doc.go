// Package tcpproxy breaks connections on purpose, for tests. A [Proxy] forwards bytes between
// clients and a server. For each connection, a [Fault] says how it fails. The proxy can reset the
// connection, end it early, or keep it open without forwarding (half-open). It can also deliver the
// server's bytes one at a time, or invert one bit.
//
// A proxy listens on TCP, or hands out connections inside the process, which work in a bubble of
// testing/synctest. It does not interpret the bytes.
package tcpproxy
