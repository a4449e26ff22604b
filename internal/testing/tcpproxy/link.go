package tcpproxy

import (
	"net"
	"sync/atomic"
	"time"
)

// proxiedConn is one connection on both sides of the proxy.
type proxiedConn struct {
	clientConn, serverConn net.Conn // to the client, to the server
	done                   <-chan struct{}
	stalled                atomic.Bool
}

func (l *proxiedConn) close() {
	_ = l.clientConn.Close()
	_ = l.serverConn.Close()
}

func (l *proxiedConn) reset() {
	for _, conn := range []net.Conn{l.clientConn, l.serverConn} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	l.close()
}

// forwardBytes forwards from one side to the other, until one of them ends or the fault
// ends both.
func (l *proxiedConn) forwardBytes(from, to net.Conn, fault Fault) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		data := buffer[:n]
		if fault.Kind != None && fault.After < n {
			l.write(to, data[:fault.After])
			l.applyFault(to, data[fault.After:], &fault)
		} else {
			fault.After -= n
			l.write(to, data)
		}
		if err != nil {
			if !l.stalled.Load() {
				l.close()
			}
			return
		}
	}
}

// applyFault sends data, and applies the fault at the start of data.
func (l *proxiedConn) applyFault(to net.Conn, data []byte, fault *Fault) {
	fault.After = 0
	switch fault.Kind {
	case Reset:
		l.reset()
	case Cut:
		l.close()
	case Stall:
		l.stalled.Store(true)
	case Trickle:
		for i := range data {
			if !l.write(to, data[i:i+1]) {
				return
			}
			select {
			case <-time.After(fault.Pause):
			case <-l.done:
			}
		}
	case Corrupt:
		data[0] ^= 1 << fault.Bit
		l.write(to, data)
		*fault = Fault{}
	}
}

// write sends data. If the connection is half-open, it drops data. It returns false if the receiver
// is gone.
func (l *proxiedConn) write(to net.Conn, data []byte) bool {
	if len(data) == 0 || l.stalled.Load() {
		return true
	}
	_, err := to.Write(data)
	if err != nil && !l.stalled.Load() {
		l.close()
	}
	return err == nil
}
