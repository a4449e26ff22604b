package remotecommand

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/remotecommand"
)

const (
	pingPeriod = 5 * time.Second
	// readTimeout is how long the server may send neither data nor pongs before it counts as gone.
	readTimeout  = 12*pingPeriod + time.Second
	writeTimeout = 60 * time.Second
	closeTimeout = time.Second // timeout of the close message
)

// channels are the streams of a websocket. The first byte of each message is the number of a
// stream.
//
// A stream without a reader blocks the other streams, because a single stream has no flow control.
type channels struct {
	conn      *gwebsocket.Conn
	size      int // maximal data size of a message
	endsStdin bool
	streams   map[byte]*channel // constant after start
	closeOnce sync.Once
	done      chan struct{} // closed by close
	running   sync.WaitGroup

	mu sync.Mutex // guards writing of data messages
}

func newChannels(conn *gwebsocket.Conn, size int) *channels {
	return &channels{
		conn: conn, size: size, endsStdin: conn.Subprotocol() == remotecommand.StreamProtocolV5Name,
		streams: make(map[byte]*channel), done: make(chan struct{}),
	}
}

// numbers maps the kind of a stream to its number.
var numbers = map[string]byte{
	corev1.StreamTypeStdin:  remotecommand.StreamStdIn,
	corev1.StreamTypeStdout: remotecommand.StreamStdOut,
	corev1.StreamTypeStderr: remotecommand.StreamStdErr,
	corev1.StreamTypeError:  remotecommand.StreamErr,
	corev1.StreamTypeResize: remotecommand.StreamResize,
}

func (c *channels) open(kind string) (io.ReadWriteCloser, error) {
	number, ok := numbers[kind]
	if !ok || c.streams[number] != nil {
		return nil, fmt.Errorf("no stream for %s", kind)
	}
	s := &channel{channels: c, number: number}
	s.incoming, s.incomingWriter = io.Pipe()
	c.streams[number] = s
	return s, nil
}

// start starts the goroutines that read and ping.
func (c *channels) start() {
	c.conn.SetPongHandler(func(string) error { return c.extendDeadline() })
	c.running.Go(c.read)
	c.running.Go(c.ping)
}

// close ends all streams and waits for the goroutines that start has started.
func (c *channels) close() {
	c.closeOnce.Do(func() {
		close(c.done)
		bye := gwebsocket.FormatCloseMessage(gwebsocket.CloseNormalClosure, "")
		_ = c.conn.WriteControl(gwebsocket.CloseMessage, bye, time.Now().Add(closeTimeout))
		c.conn.Close()
		c.endStreams(nil)
	})
	c.running.Wait()
}

// endStreams ends the incoming side of all streams. Their readers first get the received data, and
// then err, or io.EOF if err is nil.
func (c *channels) endStreams(err error) {
	for _, s := range c.streams {
		s.incomingWriter.CloseWithError(err) // nil is io.EOF
	}
}

// extendDeadline extends the deadline by which the server must send something.
func (c *channels) extendDeadline() error {
	return c.conn.SetReadDeadline(time.Now().Add(readTimeout))
}

// read passes messages to their streams until the connection ends.
func (c *channels) read() {
	buffer := make([]byte, c.size)
	for {
		if err := c.readMessage(buffer); err != nil {
			if closed, ok := errors.AsType[*gwebsocket.CloseError](err); ok && closed.Code == gwebsocket.CloseNormalClosure {
				err = nil
			}
			c.endStreams(err)
			return
		}
	}
}

func (c *channels) readMessage(buffer []byte) error {
	// Pings and pongs are handled only while a message is read. A slow reader of a stream may have
	// delayed the reading, so measure the silence from here.
	if err := c.extendDeadline(); err != nil {
		return err
	}
	kind, message, err := c.conn.NextReader()
	if err != nil {
		return fmt.Errorf("next reader: %w", err)
	}
	if kind != gwebsocket.BinaryMessage {
		return fmt.Errorf("unexpected message type: %d", kind)
	}
	if _, err := io.ReadFull(message, buffer[:1]); err != nil {
		return fmt.Errorf("read stream id: %w", err)
	}
	s := c.streams[buffer[0]]
	if s == nil {
		_, err := io.Copy(io.Discard, message)
		return err
	}
	for {
		n, err := message.Read(buffer)
		if _, refused := s.incomingWriter.Write(buffer[:n]); refused != nil && !errors.Is(refused, io.ErrClosedPipe) {
			return refused
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read message: %w", err)
		}
		if err := c.extendDeadline(); err != nil {
			return err
		}
	}
}

// ping pings the server until the connection ends. A failed ping appears as a read error.
func (c *channels) ping() {
	ticker := time.NewTicker(pingPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-ticker.C:
			_ = c.conn.WriteControl(gwebsocket.PingMessage, nil, time.Now().Add(pingPeriod))
		}
	}
}

// write sends one message.
func (c *channels) write(first byte, data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	w, err := c.conn.NextWriter(gwebsocket.BinaryMessage)
	if err != nil {
		return err
	}
	_, err = w.Write([]byte{first})
	if err == nil {
		_, err = w.Write(data)
	}
	return errors.Join(err, w.Close())
}

// channel is one stream of a websocket.
type channel struct {
	channels       *channels
	number         byte
	incoming       *io.PipeReader
	incomingWriter *io.PipeWriter

	mu     sync.Mutex // guards following
	closed bool
}

func (s *channel) Read(p []byte) (int, error) { return s.incoming.Read(p) }

// Write sends p in messages of one frame each.
func (s *channel) Write(p []byte) (int, error) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return 0, fmt.Errorf("write on closed stream %d", s.number)
	}
	sent := 0
	for sent < len(p) {
		part := p[sent:min(len(p), sent+s.channels.size)]
		if err := s.channels.write(s.number, part); err != nil {
			return sent, err
		}
		sent += len(part)
	}
	return sent, nil
}

// Close notifies the server of the end of the data. Before version 5 there is no message for this,
// and the server keeps waiting for data.
func (s *channel) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed || !s.channels.endsStdin {
		return nil
	}
	return s.channels.write(remotecommand.StreamClose, []byte{s.number})
}
