package portforward

import (
	"fmt"
	"net"
	"strconv"
)

// listen listens on the ports and passes each listener to serve. It writes a line to errOut for
// each failed port, and returns an error if all ports fail.
func (pf *PortForwarder) listen(serve func(net.Listener, ForwardedPort)) error {
	listening := false
	for i := range pf.ports {
		if err := pf.listenOn(&pf.ports[i], serve); err != nil {
			fmt.Fprintf(pf.errOut, "Unable to listen on port %d: %v\n", pf.ports[i].Local, err)
			continue
		}
		listening = true
	}
	if !listening {
		return fmt.Errorf("unable to listen on any of the requested ports: %v", pf.ports)
	}
	return nil
}

// listenOn listens on all addresses for one port. If Local is 0, it chooses a free port for the
// first address and uses the same port for the other addresses. It returns an error if a required
// address or all optional addresses fail. Listeners that are open stay open.
func (pf *PortForwarder) listenOn(port *ForwardedPort, serve func(net.Listener, ForwardedPort)) error {
	var refused []error
	failed, refusedOptional, someOptional := false, false, false
	for _, a := range pf.addresses {
		l, err := pf.open(a, port)
		if err != nil {
			refused = append(refused, err)
			failed = failed || !a.optional
			refusedOptional = refusedOptional || a.optional
			continue
		}
		someOptional = someOptional || a.optional
		serve(l, *port)
	}
	if failed || refusedOptional && !someOptional {
		//lint:ignore ST1005 the text is client-go's
		return fmt.Errorf("Listeners failed to create with the following errors: %v", refused)
	}
	return nil
}

// open returns a listener. Close closes the listener.
func (pf *PortForwarder) open(a address, port *ForwardedPort) (net.Listener, error) {
	l, err := net.Listen(a.network, net.JoinHostPort(a.ip, strconv.Itoa(int(port.Local))))
	if err != nil {
		return nil, fmt.Errorf("unable to create listener: Error %w", err)
	}
	pf.mu.Lock()
	closed := pf.closed
	if !closed {
		pf.listeners = append(pf.listeners, l)
		port.Local = uint16(l.Addr().(*net.TCPAddr).Port)
	}
	pf.mu.Unlock()
	if closed {
		l.Close()
		return nil, net.ErrClosed
	}
	fmt.Fprintf(pf.out, "Forwarding from %s -> %d\n", net.JoinHostPort(a.ip, strconv.Itoa(int(port.Local))), port.Remote)
	return l, nil
}
