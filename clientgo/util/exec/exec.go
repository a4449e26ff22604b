// Package exec has the error of a command that ended with an exit code.
package exec

// ExitError is the error of a command, similar to *os/exec.ExitError.
type ExitError interface {
	String() string
	Error() string
	// Exited reports whether the command exited by itself.
	Exited() bool
	// ExitStatus returns the command's exit code.
	ExitStatus() int
}

// CodeExitError is an ExitError made of an error and an exit code.
type CodeExitError struct {
	Err  error
	Code int
}

var _ ExitError = CodeExitError{}

// Error returns the text of Err.
func (e CodeExitError) Error() string { return e.Err.Error() }

// String returns the text of Err.
func (e CodeExitError) String() string { return e.Err.Error() }

// Exited returns true.
func (e CodeExitError) Exited() bool { return true }

// ExitStatus returns Code.
func (e CodeExitError) ExitStatus() int { return e.Code }
