package portforward_test

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	serverspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

var loopback = []string{"127.0.0.1"}

// forEachDialer runs a test with SPDY, and with SPDY through a websocket.
func forEachDialer(t *testing.T, test func(t *testing.T, dial func(t *testing.T, address string) older.Dialer)) {
	t.Run("spdy", func(t *testing.T) { test(t, overSPDY) })
	t.Run("tunnelled", func(t *testing.T) { test(t, overWebsocket) })
}

// dial connects to a forwarded port.
func dial(t *testing.T, ip string, port uint16) *net.TCPConn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip, strconv.Itoa(int(port))), testTimeout)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(testTimeout)))
	return conn.(*net.TCPConn)
}

// ask sends a question, ends its direction of the connection, and returns the answer.
func ask(t *testing.T, ip string, port uint16, question string) string {
	t.Helper()
	conn := dial(t, ip, port)
	_, err := io.WriteString(conn, question)
	require.NoError(t, err)
	require.NoError(t, conn.CloseWrite())
	response, err := io.ReadAll(conn)
	require.NoError(t, err)
	return string(response)
}

func TestPortsAreForwarded(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, upper)
		f := forward(t, dialer(t, p.address), loopback, ":80", "0:81")
		ports, err := f.GetPorts()
		require.NoError(t, err)
		require.Len(t, ports, 2)
		require.Equal(t, []uint16{80, 81}, []uint16{ports[0].Remote, ports[1].Remote})
		require.NotContains(t, f.local(), uint16(0))

		require.Equal(t, "80:HELLO", ask(t, "127.0.0.1", ports[0].Local, "hello"))
		require.Equal(t, "81:WORLD", ask(t, "127.0.0.1", ports[1].Local, "world"))
		f.stopped()
		require.Equal(t, fmt.Sprintf("Forwarding from 127.0.0.1:%d -> 80\nForwarding from 127.0.0.1:%[2]d -> 81\nHandling connection for %[1]d\nHandling connection for %[2]d\n",
			ports[0].Local, ports[1].Local), f.out.String())
		require.Equal(t, []string{"0", "1"}, p.ids)
		_, err = net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(int(ports[0].Local)))
		require.Error(t, err, "a port must be closed after forwarding has ended")
	})
}

func TestManyConnectionsAndMuchData(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
			io.Copy(data, data)
			return ""
		})
		f := forward(t, dialer(t, p.address), loopback, ":80")
		port := f.local()[0]
		var asking sync.WaitGroup
		for n := range 4 {
			asking.Go(func() {
				question := make([]byte, 200_001)
				random := rand.NewChaCha8([32]byte{byte(n)})
				random.Read(question)
				conn := dial(t, "127.0.0.1", port)
				go func() {
					conn.Write(question)
					conn.CloseWrite()
				}()
				sum := sha256.New()
				if _, err := io.Copy(sum, conn); err != nil {
					t.Error(err)
				}
				if want := sha256.Sum256(question); string(want[:]) != string(sum.Sum(nil)) {
					t.Error("the received data differs from the sent data")
				}
			})
		}
		asking.Wait()
		f.stopped()
	})
}

func TestLocalhostListensOnIPv4AndIPv6(t *testing.T) {
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	probe.Close()
	p := servePod(t, upper)
	f := forward(t, overSPDY(t, p.address), []string{"localhost"}, ":80")
	port := f.local()[0]
	require.Equal(t, fmt.Sprintf("Forwarding from 127.0.0.1:%d -> 80\nForwarding from [::1]:%[1]d -> 80\n", port), f.out.String())
	require.Equal(t, "80:FOUR", ask(t, "127.0.0.1", port, "four"))
	require.Equal(t, "80:SIX", ask(t, "::1", port, "six"))
	f.stopped()
}

func TestOneIPFamilyOfLocalhostIsEnough(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	probe, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	probe.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	p := servePod(t, upper)
	f := forward(t, overSPDY(t, p.address), []string{"localhost"}, fmt.Sprintf("%d:80", port))
	require.Equal(t, fmt.Sprintf("Forwarding from [::1]:%d -> 80\n", port), f.out.String())
	require.Empty(t, f.errOut.String())
	f.stopped()
}

func TestPortsThatCannotBeListenedOn(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	p := servePod(t, upper)

	// If one port fails, forwarding works with another port.
	f := forward(t, overSPDY(t, p.address), loopback, fmt.Sprintf("%d:80", port), ":81")
	ports, err := f.GetPorts()
	require.NoError(t, err)
	require.Len(t, ports, 2)
	require.Regexp(t, fmt.Sprintf(`^Unable to listen on port %d: .*unable to create listener: Error listen tcp4 127\.0\.0\.1:%d: bind: address already in use\]\n$`, port, port), f.errOut.String())
	require.Equal(t, fmt.Sprintf("Forwarding from 127.0.0.1:%d -> 81\n", ports[1].Local), f.out.String())
	f.stopped()

	// If one address fails, the port counts as failed, but the forwarder listens on its other
	// addresses.
	f = forward(t, overSPDY(t, p.address), []string{"127.0.0.2", "127.0.0.1", "127.0.0.3"}, fmt.Sprintf("%d:80", port), ":81")
	other := f.local()[1]
	require.Equal(t, fmt.Sprintf("Unable to listen on port %d: Listeners failed to create with the following errors: [unable to create listener: Error listen tcp4 127.0.0.1:%[1]d: bind: address already in use]\n", port), f.errOut.String())
	require.Equal(t, fmt.Sprintf("Forwarding from 127.0.0.2:%d -> 80\nForwarding from 127.0.0.3:%[1]d -> 80\n"+
		"Forwarding from 127.0.0.1:%d -> 81\nForwarding from 127.0.0.2:%[2]d -> 81\nForwarding from 127.0.0.3:%[2]d -> 81\n", port, other), f.out.String())
	require.Equal(t, "80:A", ask(t, "127.0.0.2", uint16(port), "a"))
	f.stopped()

	pf, err := portforward.NewOnAddresses(overSPDY(t, p.address), loopback, []string{fmt.Sprintf("%d:80", port)}, nil, nil, nil, nil)
	require.NoError(t, err)
	require.EqualError(t, pf.ForwardPorts(), fmt.Sprintf("unable to listen on any of the requested ports: [{%d 80}]", port))
}

func TestAddressesAndPorts(t *testing.T) {
	for name, test := range map[string]struct {
		addresses, ports []string
		err              string
	}{
		"no address":           {nil, []string{"80"}, "you must specify at least 1 address"},
		"no port":              {loopback, nil, "you must specify at least 1 port"},
		"a name":               {[]string{"example.com"}, []string{"80"}, "example.com is not a valid IP"},
		"three parts":          {loopback, []string{"1:2:3"}, "invalid port format '1:2:3'"},
		"nothing":              {loopback, []string{""}, `error parsing local port '': strconv.ParseUint: parsing "": invalid syntax`},
		"a word":               {loopback, []string{"http"}, `error parsing local port 'http': strconv.ParseUint: parsing "http": invalid syntax`},
		"a remote word":        {loopback, []string{"80:http"}, `error parsing remote port 'http': strconv.ParseUint: parsing "http": invalid syntax`},
		"no remote port":       {loopback, []string{"80:"}, `error parsing remote port '': strconv.ParseUint: parsing "": invalid syntax`},
		"a remote port of 0":   {loopback, []string{"80:0"}, "remote port must be > 0"},
		"0":                    {loopback, []string{"0"}, "remote port must be > 0"},
		"too large":            {loopback, []string{"65536"}, `error parsing local port '65536': strconv.ParseUint: parsing "65536": value out of range`},
		"one that is good":     {loopback, []string{"80"}, ""},
		"localhost and others": {[]string{"localhost", "127.0.0.1", "::", "0.0.0.0"}, []string{"8080:80", ":81"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pf, err := portforward.NewOnAddresses(nil, test.addresses, test.ports, nil, nil, nil, nil)
			if test.err == "" {
				require.NoError(t, err)
				_, err = pf.GetPorts()
				require.EqualError(t, err, "no Ready channel provided")
				return
			}
			require.EqualError(t, err, test.err)
		})
	}
}

func TestDuplicateAddresses(t *testing.T) {
	p := servePod(t, upper)
	f := forward(t, overSPDY(t, p.address), []string{"127.0.0.1", "127.0.0.1"}, ":80")
	require.Equal(t, fmt.Sprintf("Forwarding from 127.0.0.1:%d -> 80\n", f.local()[0]), f.out.String())
	f.stopped()
}

func TestAStopEndsConnections(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
			io.WriteString(data, "x")
			io.Copy(io.Discard, data)
			return ""
		})
		f := forward(t, dialer(t, p.address), loopback, ":80")
		conn := dial(t, "127.0.0.1", f.local()[0])
		_, err := io.ReadFull(conn, make([]byte, 1))
		require.NoError(t, err)
		f.stopped()
		_, err = io.ReadAll(conn)
		if netErr, ok := errors.AsType[net.Error](err); ok {
			require.False(t, netErr.Timeout(), "the local connection must be closed")
		}
	})
}

func TestAStopDoesNotWaitForALocalReader(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		wrote := make(chan struct{}, 1)
		p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
			for {
				if _, err := data.Write(make([]byte, 32<<10)); err != nil {
					return ""
				}
				select {
				case wrote <- struct{}{}:
				default:
				}
			}
		})
		f := forward(t, dialer(t, p.address), loopback, ":80")
		dial(t, "127.0.0.1", f.local()[0])
		<-wrote
		for full := false; !full; { // until the buffers are full, because the client does not read
			select {
			case <-wrote:
			case <-time.After(500 * time.Millisecond):
				full = true
			}
		}
		f.stopped()
	})
}

func TestAStopDoesNotWaitForAPodThatReadsNothing(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		opened, done := make(chan struct{}, 1), make(chan struct{})
		p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
			opened <- struct{}{}
			<-done
			return ""
		})
		defer close(done)
		f := forward(t, dialer(t, p.address), loopback, ":80")
		conn := dial(t, "127.0.0.1", f.local()[0])
		<-opened
		for {
			require.NoError(t, conn.SetWriteDeadline(time.Now().Add(500*time.Millisecond)))
			if _, err := conn.Write(make([]byte, 32<<10)); err != nil {
				break // the buffers are full
			}
		}
		f.stopped()
	})
}

func TestAStopDoesNotWaitForAStream(t *testing.T) {
	asked, done := make(chan struct{}, 10), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, err := httpstream.Handshake(req, w, []string{"portforward.k8s.io"}); err != nil {
			return
		}
		conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, func(httpstream.Stream, <-chan struct{}) error {
			asked <- struct{}{}
			<-done // no response
			return nil
		})
		<-conn.CloseChan()
	}))
	defer s.Close()
	f := forward(t, overSPDY(t, s.URL), loopback, ":80")
	dial(t, "127.0.0.1", f.local()[0])
	<-asked
	f.stopped()
	close(done)
}

func TestALocalReaderGetsEOFAfterAStop(t *testing.T) {
	p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
		io.WriteString(data, "x")
		io.Copy(io.Discard, data)
		return ""
	})
	f := forward(t, overSPDY(t, p.address), loopback, ":80")
	conn := dial(t, "127.0.0.1", f.local()[0])
	_, err := io.ReadFull(conn, make([]byte, 1))
	require.NoError(t, err)
	f.stopped()
	rest, err := io.ReadAll(conn)
	require.NoError(t, err, "the local connection ends in an orderly way")
	require.Empty(t, rest)
}

func TestAConnectionThatIsLost(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, upper)
		f := forward(t, dialer(t, p.address), loopback, ":80")
		<-p.connected
		p.hangUp()
		require.ErrorIs(t, f.ends(), portforward.ErrLostConnectionToPod)
	})
}

func TestAnErrorOfTheServerEndsForwarding(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, func(port string, data io.ReadWriteCloser) string {
			if port == "80" {
				return "connect: connection refused"
			}
			return upper(port, data)
		})
		f := forward(t, dialer(t, p.address), loopback, ":80", ":81")
		require.Equal(t, "81:A", ask(t, "127.0.0.1", f.local()[1], "a"))
		_, _ = io.Copy(io.Discard, dial(t, "127.0.0.1", f.local()[0]))
		require.ErrorIs(t, f.ends(), portforward.ErrLostConnectionToPod)
	})
}

func TestClosingALocalConnectionDoesNotEndForwarding(t *testing.T) {
	forEachDialer(t, func(t *testing.T, dialer func(t *testing.T, address string) older.Dialer) {
		p := servePod(t, func(port string, data io.ReadWriteCloser) string {
			io.WriteString(data, strings.Repeat("x", 100_000))
			io.Copy(io.Discard, data)
			return ""
		})
		f := forward(t, dialer(t, p.address), loopback, ":80")
		for range 3 {
			conn := dial(t, "127.0.0.1", f.local()[0])
			_, err := io.ReadFull(conn, make([]byte, 1))
			require.NoError(t, err)
			require.NoError(t, conn.SetLinger(0)) // a reset in place of an orderly end
			conn.Close()
		}
		select {
		case err := <-f.result:
			t.Fatalf("forwarding must not end: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		f.stopped()
	})
}

func TestCloseEndsListeningOnly(t *testing.T) {
	p := servePod(t, func(_ string, data io.ReadWriteCloser) string {
		one := make([]byte, 1)
		for {
			if _, err := io.ReadFull(data, one); err != nil {
				return ""
			}
			data.Write(one)
		}
	})
	f := forward(t, overSPDY(t, p.address), loopback, ":80")
	conn := dial(t, "127.0.0.1", f.local()[0])
	echo := func() {
		_, err := conn.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, 1))
		require.NoError(t, err)
	}
	echo()
	f.Close()
	_, err := net.Dial("tcp", conn.RemoteAddr().String())
	require.Error(t, err)
	echo()
	f.stopped()
}

func TestErrorsBeforeForwardingStarts(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Error(w, "no such pod", http.StatusNotFound)
	}))
	defer refusing.Close()
	pf, err := portforward.New(overSPDY(t, refusing.URL), []string{":80"}, nil, nil, nil, nil)
	require.NoError(t, err)
	require.EqualError(t, pf.ForwardPorts(), "error upgrading connection: unable to upgrade connection: no such pod")
	pf, err = portforward.New(overWebsocket(t, refusing.URL), []string{":80"}, nil, nil, nil, nil)
	require.NoError(t, err)
	require.EqualError(t, pf.ForwardPorts(), "error upgrading connection: unable to upgrade streaming request: websocket: bad handshake (404 Not Found): no such pod")
	pf, err = portforward.New(dialerFunc(func() (older.Connection, string, error) { return &conn{}, "other", nil }), []string{":80"}, nil, nil, nil, nil)
	require.NoError(t, err)
	require.EqualError(t, pf.ForwardPorts(), `unable to negotiate protocol: client supports "portforward.k8s.io", server returned "other"`)
}

type dialerFunc func() (older.Connection, string, error)

func (f dialerFunc) Dial(...string) (older.Connection, string, error) { return f() }

type conn struct{ older.Connection }

func (*conn) Close() error { return nil }

func TestTheSecondaryDialerIsUsedIfThePrimaryCannotConnect(t *testing.T) {
	p := servePod(t, upper)
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	calls := 0
	d := portforward.NewFallbackDialer(overWebsocket(t, refusing.URL), overSPDY(t, p.address), func(err error) bool {
		calls++
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	f := forward(t, d, loopback, ":80")
	require.Equal(t, "80:A", ask(t, "127.0.0.1", f.local()[0], "a"))
	f.stopped()
	require.Equal(t, 1, calls)

	d = portforward.NewFallbackDialer(overWebsocket(t, refusing.URL), nil, func(error) bool { return false })
	_, _, err := d.Dial("portforward.k8s.io")
	require.ErrorContains(t, err, "404")
}
