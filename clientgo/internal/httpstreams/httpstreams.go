// Package httpstreams converts between the two packages that Kubernetes has for stream connections.
// These are k8s.io/streaming/pkg/httpstream, and the older k8s.io/apimachinery/pkg/util/httpstream.
//
// A stream implements the stream interfaces of both packages, because these have the same methods.
// A connection does not implement both interfaces, because their methods have different stream
// types in their signatures.
package httpstreams

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"net/http"

	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/streaming/pkg/httpstream"
)

// Older returns c as a connection of apimachinery's package. It returns nil for nil.
func Older(c httpstream.Connection) older.Connection {
	switch c := c.(type) {
	case nil:
		return nil
	case *newerConnection:
		return c.Connection
	}
	return &olderConnection{c}
}

// Newer returns c as a connection of k8s.io/streaming. It returns nil for nil.
func Newer(c older.Connection) httpstream.Connection {
	switch c := c.(type) {
	case nil:
		return nil
	case *olderConnection:
		return c.Connection
	}
	return &newerConnection{c}
}

type olderConnection struct{ httpstream.Connection }

func (c *olderConnection) CreateStream(h http.Header) (older.Stream, error) {
	return c.Connection.CreateStream(h)
}

func (c *olderConnection) RemoveStreams(streams ...older.Stream) {
	c.Connection.RemoveStreams(convert[httpstream.Stream](streams)...)
}

type newerConnection struct{ older.Connection }

func (c *newerConnection) CreateStream(h http.Header) (httpstream.Stream, error) {
	return c.Connection.CreateStream(h)
}

func (c *newerConnection) RemoveStreams(streams ...httpstream.Stream) {
	c.Connection.RemoveStreams(convert[older.Stream](streams)...)
}

// convert converts streams. It omits nil streams, as the connections do.
func convert[To, From older.Stream](streams []From) []To {
	out := make([]To, 0, len(streams))
	for _, s := range streams {
		if s, ok := any(s).(To); ok {
			out = append(out, s)
		}
	}
	return out
}

// OlderDialer returns d as a dialer of apimachinery's package. It returns nil for nil.
func OlderDialer(d httpstream.Dialer) older.Dialer {
	switch d := d.(type) {
	case nil:
		return nil
	case newerDialer:
		return d.Dialer
	}
	return olderDialer{d}
}

// NewerDialer returns d as a dialer of k8s.io/streaming. It returns nil for nil.
func NewerDialer(d older.Dialer) httpstream.Dialer {
	switch d := d.(type) {
	case nil:
		return nil
	case olderDialer:
		return d.Dialer
	}
	return newerDialer{d}
}

type olderDialer struct{ httpstream.Dialer }

func (d olderDialer) Dial(protocols ...string) (older.Connection, string, error) {
	c, protocol, err := d.Dialer.Dial(protocols...)
	return Older(c), protocol, err
}

type newerDialer struct{ older.Dialer }

func (d newerDialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	c, protocol, err := d.Dialer.Dial(protocols...)
	return Newer(c), protocol, err
}
