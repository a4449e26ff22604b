package execauth

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
)

// ErrNoTerminal means that a plugin needs input from the user, but standard input is not a
// terminal. The errors of [Plugin.Credential] wrap it.
var ErrNoTerminal = errors.New("the plugin needs a terminal (interactiveMode Always), but standard input is not a terminal")

// ErrMalformed means that the output of a plugin is not a valid ExecCredential. The errors of
// [Plugin.Credential] wrap it.
var ErrMalformed = errors.New("malformed output")

// Error is the failure of a plugin, and unwraps to the reason: the context's error,
// exec.ErrNotFound or fs.ErrNotExist, an *exec.ExitError, [ErrMalformed] and so on.
type Error struct {
	// Command is the command of the plugin.
	Command string

	// Stderr is the end of the command's standard error, in one line, without words that
	// look like secrets.
	Stderr string

	Err error
}

// Error names the plugin, the reason and the end of its standard error.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	text := fmt.Sprintf("exec plugin %q: %v", e.Command, e.Err)
	if e.Stderr != "" {
		text += "; standard error: " + e.Stderr
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// withInstallHint adds the text hint to an error about a missing command.
func withInstallHint(err error, hint string) error {
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if hint == "" {
		hint = "install it, or check the path"
	}
	return fmt.Errorf("%w: %s", err, printable(hint))
}

// malformed returns an error that wraps ErrMalformed.
func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}
