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

// inflating is the body of an answer in gzip. It is not left to net/http, which does not
// tell how many bytes there were before: of those, a thousand times as many may be made,
// and of each of those an object (G11). A server may have reason to send what repeats so
// much, and then sends it as it is, when it is asked for again.
type inflating struct {
	io.ReadCloser              // compressed
	plain         *atomic.Bool // set where compression was too good
	most          int64        // times
	in, out       int64        // bytes
	reader        *gzip.Reader
}

// inflateFree is how much a body may become, whatever the ratio.
const inflateFree = 256 << 10

// inflate prepares to read an answer that may be in gzip, because that was asked for.
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
		return 0, fmt.Errorf("%d bytes of gzip became %d, more than the %d times that rest.Options.MaxCompression allows: from now on, lists of this Resource are asked for without compression", z.in, z.out, z.most)
	}
	return n, err
}

// deflated reads what is compressed.
type deflated struct{ of *inflating }

func (d deflated) Read(p []byte) (int, error) {
	n, err := d.of.ReadCloser.Read(p)
	d.of.in += int64(n)
	return n, err
}
