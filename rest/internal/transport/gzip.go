package transport

import (
	"compress/flate"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// IsCorrupt reports whether err means that a response cannot be decompressed. A response that ends
// too early is not corrupt.
func IsCorrupt(err error) bool {
	_, corrupt := err.(flate.CorruptInputError)
	return corrupt || err == gzip.ErrHeader || err == gzip.ErrChecksum
}

// gzipBody is the body of a response in gzip. net/http could decompress it as well, but does not
// report the number of compressed bytes. Each compressed byte can become a thousand bytes, and each
// of these an object (G11). If a list expands too much, package rest requests later lists
// without compression, because a list of an honest server may have many repetitions.
type gzipBody struct {
	io.ReadCloser              // the compressed body
	uncompressed  *atomic.Bool // set to true if the body exceeds maxRatio
	maxRatio      int64        // the largest allowed ratio out / in
	in, out       int64        // bytes before and after decompression
	reader        *gzip.Reader
}

// uncheckedBytes is how many bytes a body may become before its ratio is checked.
const uncheckedBytes = 256 << 10

// Decompress replaces the body of a response by its decompressed form, if the response is in gzip.
// If the body becomes more than maxRatio times as long, reading it fails, and uncompressed becomes
// true.
func Decompress(response *http.Response, maxRatio int, uncompressed *atomic.Bool) {
	if strings.EqualFold(response.Header.Get("Content-Encoding"), "gzip") {
		response.Header.Del("Content-Encoding")
		response.Header.Del("Content-Length")
		response.ContentLength = -1
		response.Body = &gzipBody{ReadCloser: response.Body, maxRatio: int64(maxRatio), uncompressed: uncompressed}
	}
}

// Read implements [io.Reader].
func (z *gzipBody) Read(p []byte) (n int, err error) {
	if z.reader == nil {
		if z.reader, err = gzip.NewReader(countingReader{z}); err != nil {
			z.reader = nil
			return 0, err
		}
	}
	n, err = z.reader.Read(p)
	if z.out += int64(n); z.out > uncheckedBytes && z.out > z.maxRatio*z.in {
		z.uncompressed.Store(true)
		return 0, fmt.Errorf("%d bytes of gzip became %d, and rest.Options.MaxCompression allows %d times as many: this Resource now requests lists without compression", z.in, z.out, z.maxRatio)
	}
	return n, err
}

// countingReader reads the compressed bytes, and counts them.
type countingReader struct{ body *gzipBody }

func (d countingReader) Read(p []byte) (int, error) {
	n, err := d.body.ReadCloser.Read(p)
	d.body.in += int64(n)
	return n, err
}
