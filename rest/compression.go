package rest

import (
	"net/netip"
	"net/url"
)

// Compression says which responses a client requests in compressed form.
type Compression uint8

// These are the kinds of compression.
const (
	// CompressAutomatic requests compressed lists, unless the server is on this host.
	//
	// A server compresses lists of 128 KiB or more, with the fastest level of gzip. Lists in JSON
	// shrink to about a tenth. On loopback, sending the saved bytes would take less time than
	// compression and decompression. On almost any network it would take more.
	CompressAutomatic Compression = iota
	// CompressLists always requests compressed lists.
	CompressLists
	// CompressNothing never requests compression.
	CompressNothing
)

// enabledFor reports whether the client should request compressed lists from host.
func (c Compression) enabledFor(host *url.URL) bool {
	if c != CompressAutomatic {
		return c == CompressLists
	}
	address, _ := netip.ParseAddr(host.Hostname())
	return host.Hostname() != "localhost" && !address.IsLoopback()
}
