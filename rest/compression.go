package rest

import (
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Compression says which answers a client asks the server to compress.
type Compression uint8

// The kinds of compression.
const (
	// CompressAutomatic asks for compressed lists, unless the server is on this host.
	//
	// A server compresses lists of 128 KiB or more, by gzip at its fastest, and those in
	// JSON to about a tenth. Compression and decompression take longer than loopback
	// takes for the difference, and less time than almost any network takes.
	CompressAutomatic Compression = iota
	// CompressLists always asks for compressed lists.
	CompressLists
	// CompressNothing never asks for compression.
	CompressNothing
)

// on reports whether the client should ask host for compressed lists.
func (c Compression) on(host *url.URL) bool {
	if c != CompressAutomatic {
		return c == CompressLists
	}
	address, _ := netip.ParseAddr(host.Hostname())
	return host.Hostname() != "localhost" && !address.IsLoopback()
}

// isCorrupt reports whether err means that an answer cannot be decompressed. An answer
// that ends too early is not corrupt.
func isCorrupt(err error) bool {
	_, corrupt := err.(flate.CorruptInputError)
	return corrupt || err == gzip.ErrHeader || err == gzip.ErrChecksum
}

// inflating is the body of an answer in gzip. net/http cannot decompress it, because it
// does not tell the number of compressed bytes: each can become a thousand bytes, and
// each of these an object (G11). A server may have an honest list that repeats itself so
// much. The Resource then asks for it again without compression.
type inflating struct {
	io.ReadCloser              // compressed
	plain         *atomic.Bool // set if the body exceeds most
	most          int64        // the largest ratio of out to in
	in, out       int64        // bytes before and after decompression
	reader        *gzip.Reader
}

// inflateFree is how many bytes a body may become, whatever the ratio.
const inflateFree = 256 << 10

// inflate makes the body of an answer decompress itself, if the answer is in gzip.
func inflate(response *http.Response, most int, plain *atomic.Bool) {
	if strings.EqualFold(response.Header.Get("Content-Encoding"), "gzip") {
		response.Header.Del("Content-Encoding")
		response.Header.Del("Content-Length")
		response.ContentLength = -1
		response.Body = &inflating{ReadCloser: response.Body, most: int64(most), plain: plain}
	}
}

// Read implements [io.Reader].
func (z *inflating) Read(p []byte) (n int, err error) {
	if z.reader == nil {
		if z.reader, err = gzip.NewReader(deflated{z}); err != nil {
			z.reader = nil
			return 0, err
		}
	}
	n, err = z.reader.Read(p)
	if z.out += int64(n); z.out > inflateFree && z.out > z.most*z.in {
		z.plain.Store(true)
		return 0, fmt.Errorf("%d bytes of gzip became %d, more than the %d times that rest.Options.MaxCompression allows: from now on, this Resource asks for lists without compression", z.in, z.out, z.most)
	}
	return n, err
}

// deflated reads the compressed bytes, and counts them.
type deflated struct{ of *inflating }

func (d deflated) Read(p []byte) (int, error) {
	n, err := d.of.ReadCloser.Read(p)
	d.of.in += int64(n)
	return n, err
}
