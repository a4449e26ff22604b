package httpstreams_test

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/internal/httpstreams"
	"k8s.io/streaming/pkg/httpstream"
)

// connection is a connection of k8s.io/streaming.
type connection struct {
	stream  httpstream.Stream
	err     error
	removed []httpstream.Stream
}

func (c *connection) CreateStream(http.Header) (httpstream.Stream, error) { return c.stream, c.err }
func (c *connection) RemoveStreams(s ...httpstream.Stream)                { c.removed = append(c.removed, s...) }
func (*connection) Close() error                                          { return nil }
func (*connection) CloseChan() <-chan bool                                { return nil }
func (*connection) SetIdleTimeout(time.Duration)                          {}

type stream struct{ httpstream.Stream }

func TestAConnectionOfOnePackageServesTheOther(t *testing.T) {
	s := &stream{}
	c := &connection{stream: s}
	o := httpstreams.Older(c)
	created, err := o.CreateStream(nil)
	require.NoError(t, err)
	require.Same(t, s, created, "a stream implements the interfaces of both packages")
	require.Same(t, c, httpstreams.Newer(o), "Newer of Older returns the connection itself")
	o.RemoveStreams(created, nil)
	require.Equal(t, []httpstream.Stream{s}, c.removed)

	c.stream, c.err = nil, errors.New("too many streams")
	created, err = o.CreateStream(nil)
	require.EqualError(t, err, "too many streams")
	require.Nil(t, created)

	n := httpstreams.Newer(onlyOlder{o})
	require.Equal(t, onlyOlder{o}, httpstreams.Older(n))
	_, err = n.CreateStream(nil)
	require.EqualError(t, err, "too many streams")
	n.RemoveStreams(s)
	require.Len(t, c.removed, 2)

	require.Nil(t, httpstreams.Older(nil))
	require.Nil(t, httpstreams.Newer(nil))
}

type onlyOlder struct{ older.Connection }

type dialer struct{ err error }

func (d dialer) Dial(protocols ...string) (httpstream.Connection, string, error) {
	if d.err != nil {
		return nil, "", d.err
	}
	return &connection{}, protocols[0], nil
}

func TestDialers(t *testing.T) {
	require.Nil(t, httpstreams.OlderDialer(nil))
	require.Nil(t, httpstreams.NewerDialer(nil))
	d := httpstreams.OlderDialer(dialer{})
	require.Equal(t, dialer{}, httpstreams.NewerDialer(d))
	c, protocol, err := d.Dial("a", "b")
	require.NoError(t, err)
	require.NotNil(t, c)
	require.Equal(t, "a", protocol)

	c, _, err = httpstreams.OlderDialer(dialer{errors.New("no")}).Dial()
	require.EqualError(t, err, "no")
	require.Nil(t, c, "a nil connection is not wrapped")
}

func TestUpgradeFailure(t *testing.T) {
	cause := errors.New("not found")
	err := httpstreams.UpgradeFailure(cause)
	require.EqualError(t, err, (&httpstream.UpgradeFailureError{Cause: cause}).Error())
	require.True(t, httpstream.IsUpgradeFailure(err))
	require.True(t, older.IsUpgradeFailure(err))
	require.ErrorIs(t, err, cause)
}
