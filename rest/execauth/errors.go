package execauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
)

// ErrNoTerminal is wrapped by errors about a plugin that has to ask the user
// something, in a process without a terminal.
var ErrNoTerminal = errors.New("it needs a terminal, and standard input is none (interactiveMode Always)")

// ErrMalformed is wrapped by errors about a plugin that did not print what it
// should have.
var ErrMalformed = errors.New("malformed answer")

// Error is the failure of a plugin. It unwraps to the reason: the context's error,
// exec.ErrNotFound or fs.ErrNotExist, an *exec.ExitError, [ErrMalformed] and so on.
type Error struct {
	// Command is the plugin.
	Command string

	// Stderr is the end of what the command wrote to its standard error, in one
	// line, without what looks like a secret.
	Stderr string

	Err error
}

// Error says which plugin failed, why, and what it had to say.
func (e *Error) Error() string {
	text := fmt.Sprintf("exec plugin %q: %v", e.Command, e.Err)
	if e.Stderr != "" {
		text += ", after it said: " + e.Stderr
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// missing adds to the error of a command that could not be started how to get it,
// if that is what it lacks.
func missing(err error, hint string) error {
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if hint == "" {
		hint = "install it, or check the path"
	}
	return fmt.Errorf("%w: %s", err, printable(hint))
}

// malformed is an error that wraps ErrMalformed.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}
