package remotecommand

import (
	"context"
	"io"
)

// Executor runs the command of a request and transfers its streams. Each call sends a new request.
type Executor interface {
	// Stream is StreamWithContext with a context that never ends.
	//
	// Deprecated: use StreamWithContext, which can be interrupted.
	Stream(options StreamOptions) error

	// StreamWithContext transfers the streams until the command ends. It returns nil for exit code
	// 0, and a k8s.io/client-go/util/exec.CodeExitError for another code. Any other error means
	// that the command could not be run, or that the connection broke. When ctx ends, it closes the
	// connection and returns ctx.Err(). The server decides whether the command continues.
	//
	// Over SPDY, as with client-go, a broken connection cannot be distinguished from an orderly
	// end: the output may be incomplete and the error nil. Over a websocket a broken connection is
	// an error. A blocked Read of Stdin does not delay the return. The data of that Read is lost.
	StreamWithContext(ctx context.Context, options StreamOptions) error
}

// StreamOptions are the streams of a command. The URL of the request must name the same streams.
type StreamOptions struct {
	// Stdin is the input of the command. It is read to its end, and the command then sees the end
	// of its input. nil means no input.
	Stdin io.Reader
	// Stdout and Stderr receive the output, each from one goroutine. After a write error, further
	// output of that stream is discarded. nil means that the stream does not exist.
	Stdout io.Writer
	Stderr io.Writer
	// Tty means that the command has a terminal. A terminal mixes Stderr with Stdout, so there is
	// no Stderr.
	Tty bool
	// TerminalSizeQueue provides the sizes of the caller's terminal. It is used with Tty, and may
	// be nil.
	TerminalSizeQueue TerminalSizeQueue
}

// TerminalSize is the size of a terminal, in characters.
type TerminalSize struct {
	Width  uint16
	Height uint16
}

// TerminalSizeQueue provides the sizes of a terminal.
type TerminalSizeQueue interface {
	// Next blocks until the terminal has a new size, and returns it. nil means that no more sizes
	// will come.
	Next() *TerminalSize
}
