// Package httpstreams turns connections of the two families of types that Kubernetes has for them into each other:
// k8s.io/streaming/pkg/httpstream, and k8s.io/apimachinery/pkg/util/httpstream, which programs have used before it.
//
// A stream is of both families, because the methods are the same. A connection is not: methods of it name a stream.
package httpstreams

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"net/http"

	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/streaming/pkg/httpstream"
)

// Older returns c for who knows apimachinery's types. nil stays nil.
func Older(c httpstream.Connection) older.Connection {
	switch c := c.(type) {
	case nil:
		return nil
	case *newer:
		return c.Connection
	}
	return &aged{c}
}

// Newer returns c for who knows the types of k8s.io/streaming. nil stays nil.
func Newer(c older.Connection) httpstream.Connection {
	switch c := c.(type) {
	case nil:
		return nil
	case *aged:
		return c.Connection
	}
	return &newer{c}
}

type aged struct{ httpstream.Connection }

func (c *aged) CreateStream(h http.Header) (older.Stream, error) {
	return c.Connection.CreateStream(h)
}

func (c *aged) RemoveStreams(streams ...older.Stream) {
	c.Connection.RemoveStreams(convert[httpstream.Stream](streams)...)
}

type newer struct{ older.Connection }

func (c *newer) CreateStream(h http.Header) (httpstream.Stream, error) {
	return c.Connection.CreateStream(h)
}

func (c *newer) RemoveStreams(streams ...httpstream.Stream) {
	c.Connection.RemoveStreams(convert[older.Stream](streams)...)
}

// convert leaves out what is nil, as the connections do.
func convert[To, From older.Stream](streams []From) []To {
	out := make([]To, 0, len(streams))
	for _, s := range streams {
		if s, ok := any(s).(To); ok {
			out = append(out, s)
		}
	}
	return out
}

// OlderDialer returns d for who knows apimachinery's types. nil stays nil.
func OlderDialer(d httpstream.Dialer) older.Dialer {
	switch d := d.(type) {
	case nil:
		return nil
	case newerDialer:
		return d.Dialer
	}
	return agedDialer{d}
}

// NewerDialer returns d for who knows the types of k8s.io/streaming. nil stays nil.
func NewerDialer(d older.Dialer) httpstream.Dialer {
	switch d := d.(type) {
	case nil:
		return nil
	case agedDialer:
		return d.Dialer
	}
	return newerDialer{d}
}

type agedDialer struct{ httpstream.Dialer }

func (d agedDialer) Dial(protocols ...string) (older.Connection, string, error) {
	c, protocol, err := d.Dialer.Dial(protocols...)
	return Older(c), protocol, err
}

type newerDialer struct{ older.Dialer }

func (d newerDialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	c, protocol, err := d.Dialer.Dial(protocols...)
	return Newer(c), protocol, err
}
