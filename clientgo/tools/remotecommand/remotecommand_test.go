package remotecommand_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
	serverspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

var success = metav1.Status{Status: metav1.StatusSuccess}

func failure(reason metav1.StatusReason, message string, causes ...metav1.StatusCause) metav1.Status {
	s := metav1.Status{Status: metav1.StatusFailure, Reason: reason, Message: message}
	if causes != nil {
		s.Details = &metav1.StatusDetails{Causes: causes}
	}
	return s
}

func exited(code string) metav1.StatusCause {
	return metav1.StatusCause{Type: "ExitCode", Message: code}
}

func TestTheStreamsOfACommand(t *testing.T) {
	everyProtocol(t, protocols, func(t *testing.T, tr transport, protocol string) {
		kinds := make(chan []string, 1)
		address := serve(t, protocols, func(c *command) {
			kinds <- c.Kinds
			line, _ := bufio.NewReader(c.In).ReadString('\n')
			io.WriteString(c.Out, "read "+line)
			io.WriteString(c.Err, "and "+c.Protocol)
			if protocol >= v4 && protocol != v1 {
				c.exit(success)
			}
		})
		var out, err text
		options := remotecommand.StreamOptions{Stdin: strings.NewReader("a line\n"), Stdout: &out, Stderr: &err}
		within(t, "a command that ends", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, "read a line\n", out.String())
		require.Equal(t, "and "+protocol, err.String())
		if tr == transportSPDY {
			require.Equal(t, []string{"error", "stdin", "stdout", "stderr"}, <-kinds)
		}
	})
}

func TestTheEndOfTheInputIsSentAndTheOutputStillRead(t *testing.T) {
	test := func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) {
			input, err := io.ReadAll(c.In)
			if err != nil {
				t.Error(err)
			}
			io.WriteString(c.Out, strings.ToUpper(string(input)))
		})
		var out text
		options := remotecommand.StreamOptions{Stdin: strings.NewReader("some input"), Stdout: &out}
		within(t, "a command that reads all of its input", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, "SOME INPUT", out.String())
	}
	for _, protocol := range []string{v2, v3, v4, v5} {
		t.Run("spdy/"+protocol, func(t *testing.T) { test(t, transportSPDY, protocol) })
	}
	t.Run("websocket/"+v5, func(t *testing.T) { test(t, transportWebsocket, v5) })
}

func TestExitCodesAndOtherFailures(t *testing.T) {
	for name, test := range map[string]struct {
		status metav1.Status
		err    string
		code   int
	}{
		"success":           {status: success},
		"an exit code":      {failure("NonZeroExitCode", "m", exited("3")), "command terminated with exit code 3", 3},
		"the largest":       {failure("NonZeroExitCode", "m", metav1.StatusCause{Type: "Other"}, exited("255")), "command terminated with exit code 255", 255},
		"no details":        {failure("NonZeroExitCode", "m"), "error stream protocol error: details must be set", 0},
		"no code":           {failure("NonZeroExitCode", "m", metav1.StatusCause{Type: "Other"}), "error stream protocol error: no ExitCode cause given", 0},
		"a strange code":    {failure("NonZeroExitCode", "m", exited("x")), `error stream protocol error: invalid exit code value "x"`, 0},
		"another reason":    {failure("InternalError", "the runtime is gone", exited("3")), "the runtime is gone", 0},
		"an unknown status": {metav1.Status{Status: "Maybe"}, "error stream protocol error: unknown error", 0},
	} {
		t.Run(name, func(t *testing.T) {
			everyProtocol(t, []string{v4, v5}, func(t *testing.T, tr transport, protocol string) {
				address := serve(t, protocols, func(c *command) {
					io.WriteString(c.Out, "output")
					c.exit(test.status)
				})
				var out text
				options := remotecommand.StreamOptions{Stdout: &out}
				err := executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options)
				require.Equal(t, "output", out.String())
				if test.err == "" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, test.err)
				var exit exec.CodeExitError
				require.Equal(t, test.code != 0, errors.As(err, &exit))
				require.Equal(t, test.code, exit.Code)
			})
		})
	}
}

func TestFailuresAreTextInOlderProtocols(t *testing.T) {
	everyProtocol(t, []string{v1, v2, v3}, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) {
			io.WriteString(c.Failed, "no such file")
			c.Failed.Close()
			if tr == transportSPDY { // over a websocket, all streams end at once
				io.Copy(io.Discard, c.In)
			}
		})
		hold, free := io.Pipe()
		defer free.Close()
		options := remotecommand.StreamOptions{Stdin: hold}
		err := executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options)
		prefix := "error"
		if protocol == v1 {
			prefix = "Error"
		}
		require.EqualError(t, err, prefix+" executing remote command: no such file")
	})
}

func TestAFailureWithoutAStatus(t *testing.T) {
	everyProtocol(t, []string{v4, v5}, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) { io.WriteString(c.Failed, "nonsense") })
		options := remotecommand.StreamOptions{Stdout: io.Discard}
		err := executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options)
		require.ErrorContains(t, err, "error stream protocol error: ")
		require.ErrorContains(t, err, `in "nonsense"`)
	})
}

func TestMuchDataInBothDirections(t *testing.T) {
	sent := make([]byte, 1<<20+17)
	random := rand.NewChaCha8([32]byte{})
	random.Read(sent)
	everyProtocol(t, []string{v5}, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) {
			io.Copy(c.Out, c.In)
			c.exit(success)
		})
		var out text
		// bytes.Reader has a WriteTo, which would send all data at once.
		options := remotecommand.StreamOptions{Stdin: bytes.NewReader(sent), Stdout: &out}
		within(t, "a command that copies", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, sha256.Sum256(sent), sha256.Sum256([]byte(out.String())))
	})
}

// sizes is a queue of terminal sizes.
type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s
	if !ok {
		return nil
	}
	return &size
}

func TestTheSizesOfATerminal(t *testing.T) {
	everyProtocol(t, []string{v3, v4, v5}, func(t *testing.T, tr transport, protocol string) {
		queue := make(sizes, 2)
		queue <- remotecommand.TerminalSize{Width: 80, Height: 25}
		queue <- remotecommand.TerminalSize{Width: 132, Height: 43}
		close(queue)
		kinds := make(chan []string, 1)
		address := serve(t, protocols, func(c *command) {
			kinds <- c.Kinds
			in := json.NewDecoder(c.Size)
			for range 2 {
				var size remotecommand.TerminalSize
				if err := in.Decode(&size); err != nil {
					t.Error(err)
				}
				json.NewEncoder(c.Out).Encode(size)
			}
		})
		var out, err text
		options := remotecommand.StreamOptions{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Tty: true, TerminalSizeQueue: queue}
		within(t, "a terminal", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, "{\"Width\":80,\"Height\":25}\n{\"Width\":132,\"Height\":43}\n", out.String())
		if tr == transportSPDY {
			require.Equal(t, []string{"error", "stdin", "stdout", "resize"}, <-kinds, "a terminal has no stderr")
		}
	})
}

func TestABlockedInputDoesNotDelayTheEnd(t *testing.T) {
	everyProtocol(t, protocols, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) { io.WriteString(c.Out, "done") })
		blocked, release := io.Pipe()
		defer release.Close()
		var out text
		options := remotecommand.StreamOptions{Stdin: blocked, Stdout: &out}
		within(t, "a command that reads nothing", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, "done", out.String())
	})
}

func TestTheContextEndsACommand(t *testing.T) {
	everyProtocol(t, protocols, func(t *testing.T, tr transport, protocol string) {
		ended := make(chan struct{})
		address := serve(t, protocols, func(c *command) {
			defer close(ended)
			io.WriteString(c.Out, "runs")
			io.Copy(io.Discard, c.In)
		})
		ctx, cancel := context.WithCancel(t.Context())
		blocked, release := io.Pipe()
		defer release.Close()
		options := remotecommand.StreamOptions{Stdin: blocked, Stdout: writeHook(cancel)}
		within(t, "a command whose context has ended", func() {
			err := executor(t, tr, protocol, address, options).StreamWithContext(ctx, options)
			require.ErrorIs(t, err, context.Canceled)
			<-ended
		})
	})
}

// endlessReader is an input without an end.
type endlessReader struct{ read chan<- struct{} }

func (e endlessReader) Read(p []byte) (int, error) {
	select {
	case e.read <- struct{}{}:
	default:
	}
	return len(p), nil
}

func TestTheContextEndsACommandThatReadsNoInput(t *testing.T) {
	everyProtocol(t, []string{v5}, func(t *testing.T, tr transport, protocol string) {
		done := make(chan struct{})
		var gone sync.WaitGroup
		gone.Add(1)
		address := serve(t, protocols, func(c *command) {
			defer gone.Done()
			<-done
		})
		ctx, cancel := context.WithCancel(t.Context())
		read := make(chan struct{}, 1)
		options := remotecommand.StreamOptions{Stdin: endlessReader{read}, Stdout: io.Discard}
		result := make(chan error, 1)
		go func() { result <- executor(t, tr, protocol, address, options).StreamWithContext(ctx, options) }()
		<-read // the command has started
		for full := false; !full; {
			select {
			case <-read:
			case <-time.After(500 * time.Millisecond):
				full = true
			}
		}
		cancel()
		within(t, "a command whose context has ended", func() { require.ErrorIs(t, <-result, context.Canceled) })
		close(done)
		within(t, "the server's end of the command", gone.Wait)
	})
}

func TestTheContextEndsTheWaitForAStream(t *testing.T) {
	asked, done := make(chan struct{}, 10), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, err := httpstream.Handshake(req, w, protocols); err != nil {
			return
		}
		conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, func(httpstream.Stream, <-chan struct{}) error {
			asked <- struct{}{}
			<-done
			return nil
		})
		<-conn.CloseChan()
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	result := make(chan error, 1)
	go func() {
		result <- executor(t, transportSPDY, v5, s.URL, options).StreamWithContext(ctx, options)
	}()
	<-asked
	cancel()
	within(t, "a command whose context has ended", func() { require.ErrorIs(t, <-result, context.Canceled) })
	close(done)
}

func TestAContextThatHasEndedAlready(t *testing.T) {
	everyProtocol(t, []string{v5}, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) {})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		options := remotecommand.StreamOptions{Stdout: io.Discard}
		require.ErrorContains(t, executor(t, tr, protocol, address, options).StreamWithContext(ctx, options), "cancel")
	})
}

// writeHook is a writer that calls a function at each write.
type writeHook func()

func (f writeHook) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// failingWriter is a writer whose writes fail.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestOutputIsDiscardedAfterAWriteError(t *testing.T) {
	everyProtocol(t, []string{v5}, func(t *testing.T, tr transport, protocol string) {
		address := serve(t, protocols, func(c *command) {
			io.WriteString(c.Out, strings.Repeat("x", 1<<20))
			io.WriteString(c.Err, "all written")
			c.exit(success)
		})
		var err text
		options := remotecommand.StreamOptions{Stdout: failingWriter{}, Stderr: &err}
		within(t, "a command with a full disk", func() {
			require.NoError(t, executor(t, tr, protocol, address, options).StreamWithContext(t.Context(), options))
		})
		require.Equal(t, "all written", err.String())
	})
}

func TestAServerThatNamesNoProtocolOverSPDY(t *testing.T) {
	// The client assumes that the server has the first version of the protocol.
	address := serveUnnamed(t)
	options := remotecommand.StreamOptions{Stdout: io.Discard}
	err := executor(t, transportSPDY, v5, address, options).StreamWithContext(t.Context(), options)
	require.EqualError(t, err, "Error executing remote command: old")
}
