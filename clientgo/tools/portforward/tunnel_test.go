package portforward_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/portforward"
)

// tunnel returns a connection inside a websocket, and the websocket's other end.
func tunnel(t *testing.T) (*portforward.TunnelingConnection, *gwebsocket.Conn) {
	ends := make(chan *gwebsocket.Conn, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		conn, err := (&gwebsocket.Upgrader{}).Upgrade(w, req, nil)
		if err != nil {
			t.Error(err)
		}
		ends <- conn
	}))
	t.Cleanup(s.Close)
	client, _, err := gwebsocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http"), nil)
	require.NoError(t, err)
	server := <-ends
	c := portforward.NewTunnelingConnection("test", client)
	t.Cleanup(func() {
		c.Close()
		server.Close()
	})
	return c, server
}

func TestATunnelIsAStreamOfBytes(t *testing.T) {
	c, server := tunnel(t)
	require.NotEmpty(t, c.LocalAddr().String())
	require.Equal(t, server.LocalAddr().String(), c.RemoteAddr().String())

	n, err := c.Write([]byte("abc"))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	kind, message, err := server.ReadMessage()
	require.NoError(t, err)
	require.Equal(t, gwebsocket.BinaryMessage, kind)
	require.Equal(t, "abc", string(message))

	for _, part := range []string{"12", "", "34567", strings.Repeat("8", 10_000)} {
		require.NoError(t, server.WriteMessage(gwebsocket.BinaryMessage, []byte(part)))
	}
	four := make([]byte, 4)
	_, err = io.ReadFull(c, four)
	require.NoError(t, err)
	require.Equal(t, "1234", string(four))
	require.NoError(t, server.WriteControl(gwebsocket.CloseMessage, gwebsocket.FormatCloseMessage(gwebsocket.CloseNormalClosure, ""), time.Now().Add(testTimeout)))
	rest, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, "567"+strings.Repeat("8", 10_000), string(rest))
}

func TestCloseSendsACloseMessage(t *testing.T) {
	c, server := tunnel(t)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "a second Close returns the first result")
	_, _, err := server.ReadMessage()
	require.True(t, gwebsocket.IsCloseError(err, gwebsocket.CloseNormalClosure), "%v", err)
	_, err = c.Write([]byte("x"))
	require.Error(t, err)
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestErrorsOfABrokenTunnel(t *testing.T) {
	c, server := tunnel(t)
	require.NoError(t, server.NetConn().Close())
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err)
	require.False(t, errors.Is(err, io.EOF), "only an orderly end is io.EOF")

	c, server = tunnel(t)
	require.NoError(t, server.WriteMessage(gwebsocket.TextMessage, []byte("text")))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
}

func TestTheDeadlinesOfATunnel(t *testing.T) {
	c, _ := tunnel(t)
	require.NoError(t, c.SetDeadline(time.Now().Add(-time.Second)))
	_, err := c.Read(make([]byte, 1))
	require.ErrorContains(t, err, "i/o timeout")
	_, err = c.Write(make([]byte, 1))
	require.ErrorContains(t, err, "i/o timeout")
}
