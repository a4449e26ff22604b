package rest

import (
	"compress/flate"
	"compress/gzip"
	"net/netip"
	"net/url"
)

// Compression says what may be compressed.
type Compression uint8

// The kinds of compression.
const (
	// CompressAutomatic asks for compressed lists, unless the host is this one.
	//
	// A server compresses lists from 128 KiB on, by gzip at its fastest, to about a
	// tenth where they are in JSON. That takes it, and takes us to undo it, more
	// time than loopback needs for all the bytes, and less than almost any network.
	CompressAutomatic Compression = iota
	// CompressLists asks for compressed lists always.
	CompressLists
	// CompressNothing asks for nothing compressed.
	CompressNothing
)

// on says whether lists should be compressed that come from host.
func (c Compression) on(host *url.URL) bool {
	if c != CompressAutomatic {
		return c == CompressLists
	}
	address, _ := netip.ParseAddr(host.Hostname())
	return host.Hostname() != "localhost" && !address.IsLoopback()
}

// isCorrupt says whether an answer cannot be decompressed. That it ends too early
// is not corrupt.
func isCorrupt(err error) bool {
	_, corrupt := err.(flate.CorruptInputError)
	return corrupt || err == gzip.ErrHeader || err == gzip.ErrChecksum
}
