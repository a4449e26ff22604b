package remotecommand

import (
	"context"
	"io"
)

// Executor runs a command, whose request it has, and carries its streams. Each call is a request of its own.
type Executor interface {
	// Stream is StreamWithContext with a context that never ends.
	//
	// Deprecated: use StreamWithContext, which can be ended.
	Stream(options StreamOptions) error

	// StreamWithContext carries the streams until the command has ended, and returns how: nil for exit code 0, a
	// k8s.io/client-go/util/exec.CodeExitError for another one, or another error if the command could not be run, or the
	// connection broke. When ctx ends, it closes the connection and returns ctx.Err(); whether the command goes on is up
	// to the server. Over SPDY a connection that breaks looks like one that ends, as with client-go: the output may be a part, and
	// the error nil. Over a websocket it is an error.
	//
	// A Read of Stdin that blocks does not keep StreamWithContext from returning. What that Read returns later is lost.
	StreamWithContext(ctx context.Context, options StreamOptions) error
}

// StreamOptions are the streams of a command. The request's URL has to ask for the same ones.
type StreamOptions struct {
	// Stdin is read until its end, which the command then sees. nil means no input.
	Stdin io.Reader
	// Stdout and Stderr are written to, each from one goroutine. What the command writes is thrown away where one of
	// them returns an error. nil means that the stream does not exist.
	Stdout io.Writer
	Stderr io.Writer
	// Tty says that the command has a terminal. There is no Stderr then, because the terminal mixes it with Stdout.
	Tty bool
	// TerminalSizeQueue has the sizes of the caller's terminal. It is used with Tty, and may be nil.
	TerminalSizeQueue TerminalSizeQueue
}

// TerminalSize is the size of a terminal, in characters.
type TerminalSize struct {
	Width  uint16
	Height uint16
}

// TerminalSizeQueue has the sizes that a terminal takes.
type TerminalSizeQueue interface {
	// Next blocks until the terminal has a new size, and returns it. nil means that there will be no more.
	Next() *TerminalSize
}
