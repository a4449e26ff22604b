package portforward

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"k8s.io/klog/v2"
)

var _ net.Conn = (*TunnelingConnection)(nil)

// TunnelingConnection is a connection inside a websocket. The data is sent in binary messages. The
// boundaries between messages have no meaning.
//
// One goroutine may read while others write.
type TunnelingConnection struct {
	logger    klog.Logger
	conn      *gwebsocket.Conn
	closeOnce sync.Once
	closeErr  error

	reading sync.Mutex // guards following
	message io.Reader  // the rest of the current message, or nil

	writing sync.Mutex // held while a message is written
}

// NewTunnelingConnection returns a connection inside conn. It owns conn. The name appears in its
// log lines.
func NewTunnelingConnection(name string, conn *gwebsocket.Conn) *TunnelingConnection {
	return NewTunnelingConnectionWithLogger(klog.LoggerWithName(klog.Background(), name), conn)
}

// NewTunnelingConnectionWithLogger returns a connection inside conn. It owns conn.
func NewTunnelingConnectionWithLogger(logger klog.Logger, conn *gwebsocket.Conn) *TunnelingConnection {
	return &TunnelingConnection{logger: logger, conn: conn}
}

// Read reads received data. It returns io.EOF after the other side has closed the websocket.
func (c *TunnelingConnection) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if c.message == nil {
			kind, message, err := c.conn.NextReader()
			if err != nil {
				return 0, c.readError(err)
			}
			if kind != gwebsocket.BinaryMessage {
				return 0, fmt.Errorf("a tunnelled connection got a message of type %d, which is not binary", kind)
			}
			c.message = message
		}
		n, err := c.message.Read(p)
		if errors.Is(err, io.EOF) { // end of the message
			c.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// readError converts an error of the websocket. It returns io.EOF if the other side has closed the
// websocket in an orderly way.
func (c *TunnelingConnection) readError(err error) error {
	if closed, ok := errors.AsType[*gwebsocket.CloseError](err); ok {
		c.logger.V(5).Info("The tunnelled connection was closed by the other side", "code", closed.Code, "text", closed.Text)
		if closed.Code == gwebsocket.CloseNormalClosure {
			return io.EOF
		}
	}
	return err
}

// Write sends p as one message.
func (c *TunnelingConnection) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	w, err := c.conn.NextWriter(gwebsocket.BinaryMessage)
	if err != nil {
		return 0, err
	}
	n, err := w.Write(p)
	return n, errors.Join(err, w.Close())
}

// Close notifies the other side and closes the connection. Later calls return the result of the
// first call.
func (c *TunnelingConnection) Close() error {
	c.closeOnce.Do(func() {
		bye := gwebsocket.FormatCloseMessage(gwebsocket.CloseNormalClosure, "")
		if err := c.conn.WriteControl(gwebsocket.CloseMessage, bye, time.Now().Add(time.Second)); err != nil {
			c.logger.V(5).Info("The other side of the tunnelled connection could not be told of its end", "err", err)
		}
		c.closeErr = c.conn.Close()
	})
	return c.closeErr
}

// LocalAddr returns the websocket's local address.
func (c *TunnelingConnection) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// RemoteAddr returns the websocket's remote address.
func (c *TunnelingConnection) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// SetDeadline sets the deadlines of Read and Write. The connection is unusable after a deadline has
// passed.
func (c *TunnelingConnection) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets the time at which a blocked Read returns an error.
func (c *TunnelingConnection) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline sets the time at which a blocked Write returns an error.
func (c *TunnelingConnection) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }
