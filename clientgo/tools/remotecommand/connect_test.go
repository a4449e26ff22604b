package remotecommand_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	serverspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

// serveUnnamed serves commands over SPDY without naming a protocol. They fail with the text "old".
func serveUnnamed(t *testing.T) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		streams := make(chan httpstream.Stream, 2)
		conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, func(s httpstream.Stream, replySent <-chan struct{}) error {
			streams <- s
			return nil
		})
		failed := <-streams
		io.WriteString(failed, "old")
		failed.Close()
		<-conn.CloseChan()
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// serveResponse starts a server that does not upgrade connections.
func serveResponse(t *testing.T, code int, contentType, body string) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/elsewhere" {
			http.Error(w, "nothing here", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", contentType)
		if code/100 == 3 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const forbidden = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods \"a\" is forbidden","reason":"Forbidden","code":403}`

func TestAServerThatRefusesTheUpgrade(t *testing.T) {
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	for name, test := range map[string]struct {
		code             int
		body             string
		overWS, overSPDY string
	}{
		"not found":  {404, "nothing here\n", "websocket: bad handshake (404 Not Found): nothing here", "nothing here"},
		"a status":   {403, forbidden, `pods "a" is forbidden`, `pods "a" is forbidden`},
		"no reason":  {200, "", "websocket: bad handshake (200 OK)", "empty server response"},
		"other JSON": {500, `{"message":"x"}`, "x", "x"},
		"a redirect": {302, "there", "websocket: bad handshake (302 Found): there", "nothing here"},
	} {
		t.Run(name, func(t *testing.T) {
			address := serveResponse(t, test.code, "application/json", test.body)
			err := executor(t, transportWebsocket, v5, address, options).StreamWithContext(t.Context(), options)
			require.EqualError(t, err, "unable to upgrade streaming request: "+test.overWS)
			require.True(t, httpstream.IsUpgradeFailure(err))
			err = executor(t, transportSPDY, v5, address, options).StreamWithContext(t.Context(), options)
			require.EqualError(t, err, "unable to upgrade connection: "+test.overSPDY)
		})
	}
}

func TestRedirectsAreFollowedOrRejected(t *testing.T) {
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	address := serveResponse(t, http.StatusFound, "text/plain", "")
	rt, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: address})
	require.NoError(t, err)
	u, err := url.Parse(address + "/exec")
	require.NoError(t, err)
	e, err := remotecommand.NewSPDYExecutorRejectRedirects(rt, upgrader, http.MethodPost, u)
	require.NoError(t, err)
	require.EqualError(t, e.StreamWithContext(t.Context(), options), `error sending request: Post "/elsewhere": redirect not allowed`)
	e, err = remotecommand.NewSPDYExecutorForTransports(rt, upgrader, http.MethodPost, u)
	require.NoError(t, err)
	require.EqualError(t, e.StreamWithContext(t.Context(), options), "unable to upgrade connection: nothing here")
}

func TestAServerOfOtherProtocols(t *testing.T) {
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	address := serve(t, []string{v4}, func(*command) {})
	err := executor(t, transportWebsocket, v5, address, options).StreamWithContext(t.Context(), options)
	require.True(t, httpstream.IsUpgradeFailure(err), "%v", err)
	err = executor(t, transportSPDY, v5, address, options).StreamWithContext(t.Context(), options)
	require.EqualError(t, err, "unable to upgrade connection: unable to upgrade: unable to negotiate protocol: client supports [v5.channel.k8s.io], server accepts [v4.channel.k8s.io]")
}

func TestTheSecondaryExecutorIsUsedIfThePrimaryCannotConnect(t *testing.T) {
	options := remotecommand.StreamOptions{Stdin: strings.NewReader("input"), Stdout: &text{}}
	address := serve(t, []string{v4}, func(c *command) {
		io.Copy(c.Out, c.In)
		c.exit(success)
	})
	shouldFallback := func(err error) bool { return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err) }
	first, second := executor(t, transportWebsocket, v5, address, options), executor(t, transportSPDY, v4, address, options)
	e, err := remotecommand.NewFallbackExecutor(first, second, shouldFallback)
	require.NoError(t, err)
	within(t, "a command after a fallback", func() {
		require.NoError(t, e.StreamWithContext(t.Context(), options))
	})
	require.Equal(t, "input", options.Stdout.(*text).String(), "the first executor must not read the input")

	// If shouldFallback is false for an error, the error is final.
	called := false
	e, err = remotecommand.NewFallbackExecutor(failingExecutor{}, executorFunc(func() { called = true }), shouldFallback)
	require.NoError(t, err)
	require.EqualError(t, e.Stream(options), "final")
	require.False(t, called)
}

type failingExecutor struct{}

func (failingExecutor) Stream(remotecommand.StreamOptions) error { return errors.New("final") }

func (f failingExecutor) StreamWithContext(context.Context, remotecommand.StreamOptions) error {
	return f.Stream(remotecommand.StreamOptions{})
}

type executorFunc func()

func (f executorFunc) Stream(remotecommand.StreamOptions) error { f(); return nil }

func (f executorFunc) StreamWithContext(context.Context, remotecommand.StreamOptions) error {
	f()
	return nil
}

// messages starts a server that sends messages to a websocket.
func messages(t *testing.T, send func(*gwebsocket.Conn)) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		upgrader := gwebsocket.Upgrader{Subprotocols: []string{v5}}
		conn, err := upgrader.Upgrade(w, req, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		send(conn)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestMessagesOfAWebsocket(t *testing.T) {
	binary := func(conn *gwebsocket.Conn, message string) {
		conn.WriteMessage(gwebsocket.BinaryMessage, []byte(message))
	}
	bye := func(conn *gwebsocket.Conn, code int) {
		conn.WriteMessage(gwebsocket.CloseMessage, gwebsocket.FormatCloseMessage(code, ""))
	}
	for name, test := range map[string]struct {
		send func(*gwebsocket.Conn)
		out  string
		err  string // "" means no error
	}{
		"parts, empty ones and ones for nobody": {func(conn *gwebsocket.Conn) {
			binary(conn, "\x01a")
			binary(conn, "\x01")
			binary(conn, "\x09other")
			binary(conn, "\x02not wanted")
			binary(conn, "\x01b")
			binary(conn, "\x03"+`{"status":"Success"}`)
			bye(conn, gwebsocket.CloseNormalClosure)
		}, "ab", ""},
		"nothing said of the end": {func(conn *gwebsocket.Conn) { bye(conn, gwebsocket.CloseNormalClosure) }, "", ""},
		"a text":                  {func(conn *gwebsocket.Conn) { conn.WriteMessage(gwebsocket.TextMessage, []byte("\x01a")) }, "", "unexpected message type: 1"},
		"no number":               {func(conn *gwebsocket.Conn) { binary(conn, "") }, "", "EOF"},
		"a broken connection":     {func(conn *gwebsocket.Conn) { binary(conn, "\x01a"); conn.NetConn().Close() }, "a", "close 1006"},
		"the server goes away":    {func(conn *gwebsocket.Conn) { bye(conn, gwebsocket.CloseGoingAway) }, "", "close 1001"},
	} {
		t.Run(name, func(t *testing.T) {
			var out text
			options := remotecommand.StreamOptions{Stdout: &out}
			e := executor(t, transportWebsocket, v5, messages(t, test.send), options)
			within(t, "a command", func() {
				err := e.StreamWithContext(t.Context(), options)
				if test.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, test.err)
					require.ErrorContains(t, err, "error reading from error stream")
				}
			})
			require.Equal(t, test.out, out.String())
		})
	}
}
