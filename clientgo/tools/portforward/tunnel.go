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

// TunnelingConnection is a connection inside of a websocket. The bytes are those of its binary messages, whose borders mean nothing.
//
// One goroutine may read while others write.
type TunnelingConnection struct {
	logger    klog.Logger
	conn      *gwebsocket.Conn
	closeOnce sync.Once
	closeErr  error

	reading sync.Mutex // guards following
	message io.Reader  // the rest of the message that is read, or nil

	writing sync.Mutex // one message at once is written
}

// NewTunnelingConnection returns a connection inside of conn, which it owns. The name is in what it logs.
func NewTunnelingConnection(name string, conn *gwebsocket.Conn) *TunnelingConnection {
	return NewTunnelingConnectionWithLogger(klog.LoggerWithName(klog.Background(), name), conn)
}

// NewTunnelingConnectionWithLogger returns a connection inside of conn, which it owns.
func NewTunnelingConnectionWithLogger(logger klog.Logger, conn *gwebsocket.Conn) *TunnelingConnection {
	return &TunnelingConnection{logger: logger, conn: conn}
}

// Read reads what has arrived. It returns io.EOF once the other side has closed the websocket.
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
		if errors.Is(err, io.EOF) { // of the message
			c.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// readError returns io.EOF for a regular end.
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

// Close says to the other side that the connection ends, and closes it. Later calls return what the first one has returned.
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

// LocalAddr is the websocket's.
func (c *TunnelingConnection) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// RemoteAddr is the websocket's.
func (c *TunnelingConnection) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// SetDeadline sets both deadlines. After one has passed, the connection cannot be used any more.
func (c *TunnelingConnection) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline sets when a Read that waits returns an error.
func (c *TunnelingConnection) SetReadDeadline(t time.Time) error { return c.conn.SetReadDeadline(t) }

// SetWriteDeadline sets when a Write that waits returns an error.
func (c *TunnelingConnection) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }
