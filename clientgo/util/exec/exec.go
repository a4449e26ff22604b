// Package exec has the error of a command that ended with an exit code.
package exec

// ExitError is an error of a command, as os/exec has one.
type ExitError interface {
	String() string
	Error() string
	// Exited reports whether the command has ended by itself.
	Exited() bool
	// ExitStatus is the command's exit code.
	ExitStatus() int
}

// CodeExitError is an ExitError that is made of an error and an exit code.
type CodeExitError struct {
	Err  error
	Code int
}

var _ ExitError = CodeExitError{}

// Error is the text of Err.
func (e CodeExitError) Error() string { return e.Err.Error() }

// String is the text of Err.
func (e CodeExitError) String() string { return e.Err.Error() }

// Exited is true.
func (e CodeExitError) Exited() bool { return true }

// ExitStatus is the Code.
func (e CodeExitError) ExitStatus() int { return e.Code }
