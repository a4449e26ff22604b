package rest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

// proxy is a small forward proxy, for HTTP or for SOCKS 5. It always connects to one address,
// whatever address a client requests, and records the requests.
type proxy struct {
	net.Listener
	target         string
	user, password string
	handshake      func(*proxy, net.Conn) (host string, ok bool)
	group          sync.WaitGroup

	mu        sync.Mutex // guards following
	requested []string
	conns     []net.Conn
}

// startProxy starts a proxy that ends with the test. It uses TLS if l does.
func startProxy(t *testing.T, l net.Listener, to string, handshake func(*proxy, net.Conn) (string, bool)) *proxy {
	p := &proxy{Listener: l, target: to, user: "me", password: "hush", handshake: handshake}
	p.group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.group.Go(func() { p.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, conn := range p.conns {
			_ = conn.Close()
		}
		p.mu.Unlock()
		p.group.Wait()
	})
	return p
}

func (p *proxy) serve(conn net.Conn) {
	defer conn.Close()
	host, ok := p.handshake(p, conn)
	if !ok {
		return
	}
	onward, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer onward.Close()
	p.mu.Lock()
	p.requested = append(p.requested, host)
	p.conns = append(p.conns, conn, onward)
	p.mu.Unlock()
	p.group.Go(func() {
		_, _ = io.Copy(onward, conn)
		_ = onward.Close()
	})
	_, _ = io.Copy(conn, onward)
}

func (p *proxy) hosts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requested)
}

// connect is the handshake of an HTTP proxy.
func connect(p *proxy, conn net.Conn) (string, bool) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || request.Method != http.MethodConnect {
		return "", false
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.user+":"+p.password))
	if request.Header.Get("Proxy-Authorization") != want {
		_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
		return "", false
	}
	_, err = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
	return request.Host, err == nil
}

// socks is the handshake of a SOCKS 5 proxy (RFC 1928 and 1929).
func socks(p *proxy, conn net.Conn) (string, bool) {
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = io.ReadFull(conn, b)
		return b
	}
	methods := read(2)
	if methods[0] != 5 || !bytes.Contains(read(int(methods[1])), []byte{2}) {
		return "", false
	}
	_, _ = conn.Write([]byte{5, 2}) // selects authentication by name and password
	user := read(int(read(2)[1]))
	password := read(int(read(1)[0]))
	if string(user) != p.user || string(password) != p.password {
		_, _ = conn.Write([]byte{1, 1})
		return "", false
	}
	_, _ = conn.Write([]byte{1, 0})
	var host string
	switch read(4)[3] {
	case 1:
		host = net.IP(read(4)).String()
	case 3:
		host = string(read(int(read(1)[0])))
	}
	port := read(2)
	_, err := conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return fmt.Sprintf("%s:%d", host, int(port[0])<<8|int(port[1])), err == nil
}

// listen listens on loopback.
func listen(t *testing.T) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

// startProxies starts a proxy of each scheme to an API server. All proxies have certificates of the
// server's CA.
func startProxies(t *testing.T) (proxies map[string]*proxy, ca []byte) {
	server, ca, listenTLS := serveForProxies(t)
	return map[string]*proxy{
		"http":   startProxy(t, listen(t), server, connect),
		"https":  startProxy(t, listenTLS(), server, connect),
		"socks5": startProxy(t, listen(t), server, socks),
	}, ca
}

func TestProxies(t *testing.T) {
	t.Parallel()
	proxies, ca := startProxies(t)
	for scheme, p := range proxies {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			through := func(user *url.Userinfo) *Client {
				client, err := NewClient(Config{
					Host: "https://kube.invalid", TLS: TLSConfig{CAData: ca},
					Proxy: http.ProxyURL(&url.URL{Scheme: scheme, Host: p.Addr().String(), User: user}),
				}, Options{})
				require.NoError(t, err)
				t.Cleanup(client.Close)
				return client
			}
			client := through(url.UserPassword("me", "hush"))
			watch, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
			require.NoError(t, err)
			require.Equal(t, io.EOF, listErr(t.Context(), pods(client)))
			require.Equal(t, []string{"kube.invalid:443"}, p.hosts(), "all requests must use one tunnel with HTTP/2")
			require.NoError(t, watch.Close())

			_, err = get(t.Context(), through(url.UserPassword("me", "wrong")))
			require.Error(t, err)
			require.NotContains(t, err.Error(), "wrong")
			_, err = get(t.Context(), through(nil))
			require.Error(t, err)
			_ = p.Close()
			_, err = get(t.Context(), through(url.UserPassword("me", "hush")))
			require.ErrorContains(t, err, "connection refused")
			require.NotContains(t, err.Error(), "hush")
		})
	}
}

// TestUntrustedProxyReloadsTheCABundle: after a proxy whose certificate is not trusted, the client
// reloads the CA bundle, as after an untrusted server.
func TestUntrustedProxyReloadsTheCABundle(t *testing.T) {
	t.Parallel()
	proxies, ca := startProxies(t)
	file := filepath.Join(t.TempDir(), "ca.crt")
	old, _ := certificate(t, "old")
	require.NoError(t, os.WriteFile(file, old, 0o600))
	client, err := NewClient(Config{
		Host: "https://kube.invalid", TLS: TLSConfig{CAFile: file},
		Proxy: http.ProxyURL(&url.URL{Scheme: "https", Host: proxies["https"].Addr().String(), User: url.UserPassword("me", "hush")}),
	}, Options{})
	require.NoError(t, err)
	defer client.Close()
	require.ErrorContains(t, listErr(t.Context(), pods(client)), "unknown authority")
	require.NoError(t, os.WriteFile(file, ca, 0o600))
	require.Equal(t, io.EOF, listErr(t.Context(), pods(client)))
}

// environmentHost is an environment variable with a host. It makes the test binary send a request
// to this host. The test starts a process for this, because a process reads the proxy variables
// only once.
const environmentHost = "REST_TEST_HOST"

func requestByEnvironment(host string) int {
	ca, err := os.ReadFile(os.Getenv("REST_TEST_CA"))
	if err != nil {
		return 1
	}
	client, err := NewClient(Config{Host: host, TLS: TLSConfig{CAData: ca}}, Options{})
	if err != nil {
		return 1
	}
	defer client.Close()
	if err := listErr(context.Background(), pods(client)); !errors.Is(err, io.EOF) {
		fmt.Println(err)
		return 1
	}
	return 0
}

func TestProxyFromEnvironment(t *testing.T) {
	t.Parallel()
	proxies, ca := startProxies(t)
	file := t.TempDir() + "/ca"
	require.NoError(t, os.WriteFile(file, ca, 0o600))
	run := func(variables ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append([]string{environmentHost + "=https://kube.invalid:6443", "REST_TEST_CA=" + file, "GORACE=atexit_sleep_ms=0"}, variables...)
		out, err := cmd.Output()
		return string(out), err
	}
	for scheme, p := range proxies {
		address := fmt.Sprintf("%s://me:hush@%s", scheme, p.Addr())
		out, err := run("HTTPS_PROXY=" + address)
		require.NoError(t, err, out)
		require.Equal(t, []string{"kube.invalid:6443"}, p.hosts())
		out, err = run("HTTPS_PROXY="+address, "NO_PROXY=.invalid")
		require.Error(t, err)
		require.True(t, strings.Contains(out, "kube.invalid"), "it was looked up here: %s", out)
	}
}
