package remotecommand

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

// pipeListener is the listener of a server with a single connection. Written data waits in a
// buffer, as in a network.
type pipeListener struct {
	net.Conn
	header http.Header
	buffer chan []byte
	once   sync.Once
	closed chan struct{}
}

func (p *pipeListener) Write(data []byte) (int, error) {
	select {
	case p.buffer <- bytes.Clone(data):
		return len(data), nil
	case <-p.closed:
		return 0, net.ErrClosed
	}
}

// forward writes the buffered data to the connection.
func (p *pipeListener) forward() {
	defer p.Conn.Close()
	for {
		select {
		case data := <-p.buffer:
			if _, err := p.Conn.Write(data); err != nil {
				return
			}
		case <-p.closed:
			return
		}
	}
}

func (p *pipeListener) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.Conn.Close()
}

func (*pipeListener) SetWriteDeadline(time.Time) error { return nil }

func (p *pipeListener) Header() http.Header { return p.header }
func (*pipeListener) WriteHeader(int)       {}
func (p *pipeListener) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return p, bufio.NewReadWriter(bufio.NewReader(p), bufio.NewWriter(p)), nil
}

// websockets returns both ends of an in-process websocket.
func websockets(t *testing.T) (client, server *gwebsocket.Conn) {
	near, far := net.Pipe()
	done := make(chan struct{})
	end := &pipeListener{Conn: far, header: http.Header{}, buffer: make(chan []byte, 1000), closed: make(chan struct{})}
	go end.forward()
	go func() {
		defer close(done)
		req, err := http.ReadRequest(bufio.NewReader(far))
		if err == nil {
			upgrader := gwebsocket.Upgrader{Subprotocols: []string{remotecommand.StreamProtocolV5Name}}
			server, err = upgrader.Upgrade(end, req, nil)
		}
		if err != nil {
			t.Error(err)
		}
	}()
	u := &url.URL{Scheme: "ws", Host: "server", Path: "/"}
	//lint:ignore SA1019 a Dialer would open a connection of its own
	client, _, err := gwebsocket.NewClient(near, u, http.Header{"Sec-Websocket-Protocol": {remotecommand.StreamProtocolV5Name}}, 1024, 1024)
	require.NoError(t, err)
	<-done
	return client, server
}

func TestASilentServerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := websockets(t)
		defer server.Close()
		var pings atomic.Int32
		server.SetPingHandler(func(string) error { // send no pong
			pings.Add(1)
			return nil
		})
		go func() { _, _, _ = server.ReadMessage() }()
		c := newChannels(client, 1024)
		out, err := c.open(corev1.StreamTypeStdout)
		require.NoError(t, err)
		c.start()
		defer c.close()
		began := time.Now()
		_, err = out.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, readTimeout, time.Since(began))
		require.EqualValues(t, 12, pings.Load())
	})
}

func TestASlowReaderDoesNotMakeTheServerSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := websockets(t)
		go func() {
			for { // the read also responds to pings
				if _, _, err := server.ReadMessage(); err != nil {
					return
				}
			}
		}()
		long := strings.Repeat("x", 5000)
		defer server.Close()
		go func() {
			for range 3 {
				if err := server.WriteMessage(gwebsocket.BinaryMessage, []byte("\x01"+long)); err != nil {
					t.Error(err)
				}
			}
			_ = server.WriteMessage(gwebsocket.CloseMessage, gwebsocket.FormatCloseMessage(gwebsocket.CloseNormalClosure, ""))
		}()
		c := newChannels(client, 1024)
		out, err := c.open(corev1.StreamTypeStdout)
		require.NoError(t, err)
		c.start()
		defer c.close()
		got := 0
		part := make([]byte, 1000)
		for {
			time.Sleep(10 * time.Minute)
			n, err := out.Read(part)
			got += n
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
		require.Equal(t, 3*len(long), got)
	})
}

func TestAnIdleCommandContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := websockets(t)
		go func() {
			for {
				if _, _, err := server.ReadMessage(); err != nil {
					return
				}
			}
		}()
		c := newChannels(client, 1024)
		out, err := c.open(corev1.StreamTypeStdout)
		require.NoError(t, err)
		c.start()
		ended := make(chan error)
		go func() {
			_, err := out.Read(make([]byte, 1))
			ended <- err
		}()
		time.Sleep(24 * time.Hour)
		select {
		case err := <-ended:
			t.Fatal(err)
		default:
		}
		go c.close()
		require.ErrorIs(t, <-ended, io.EOF)
		server.Close()
		synctest.Wait()
	})
}

func TestWritesToAClosedChannelFail(t *testing.T) {
	client, server := websockets(t)
	defer server.Close()
	c := newChannels(client, 1024)
	in, err := c.open(corev1.StreamTypeStdin)
	require.NoError(t, err)
	_, err = c.open(corev1.StreamTypeStdin)
	require.Error(t, err, "a kind has only one stream")
	_, err = c.open("other")
	require.Error(t, err)
	messages := make(chan string, 3)
	go func() {
		defer close(messages)
		for {
			_, m, err := server.ReadMessage()
			if err != nil {
				return
			}
			messages <- string(m)
		}
	}()
	_, err = in.Write([]byte("a"))
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, in.Close(), "a second Close sends no message")
	_, err = in.Write([]byte("b"))
	require.ErrorContains(t, err, "closed")
	c.close()
	var got []string
	for m := range messages {
		got = append(got, m)
	}
	require.Equal(t, []string{"\x00a", "\xff\x00"}, got)
}
