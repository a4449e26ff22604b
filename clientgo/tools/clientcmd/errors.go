package clientcmd

import (
	"errors"
	"fmt"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

var (
	// ErrNoContext is the error of a config without a current context.
	ErrNoContext = errors.New("no context chosen")

	// ErrEmptyConfig is the error of an empty config.
	ErrEmptyConfig = NewEmptyConfigError("no configuration has been provided, try setting KUBERNETES_MASTER environment variable")

	// ErrEmptyCluster is the error of a cluster without a server.
	ErrEmptyCluster = errors.New("cluster has no server defined")
)

// emptyConfigError is the error of an empty config.
type emptyConfigError struct{ message string }

// NewEmptyConfigError returns an error for which IsEmptyConfig is true.
func NewEmptyConfigError(message string) error { return &emptyConfigError{message} }

func (e *emptyConfigError) Error() string { return e.message }

// contextNotFoundError is the error for a context name that does not exist.
type contextNotFoundError struct{ name string }

func (e *contextNotFoundError) Error() string {
	return fmt.Sprintf("context was not found for specified context: %v", e.name)
}

// invalidError is the list of all mistakes in a config.
type invalidError []error

// newInvalidError converts a list of mistakes to an invalidError. It returns nil if the list is
// empty.
func newInvalidError(wrong []error) error {
	if len(wrong) == 0 {
		return nil
	}
	return invalidError(wrong)
}

func (e invalidError) Error() string {
	return "invalid configuration: " + utilerrors.NewAggregate(e).Error()
}

// Errors implements utilerrors.Aggregate.
func (e invalidError) Errors() []error { return e }

// Is implements utilerrors.Aggregate.
func (e invalidError) Is(target error) bool { return utilerrors.NewAggregate(e).Is(target) }

// IsContextNotFound reports whether a named context does not exist or no context was chosen. It
// compares the text, because programs wrap these errors by their text.
func IsContextNotFound(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, ErrNoContext) || strings.Contains(err.Error(), "context was not found for specified context")
}

// IsEmptyConfig reports whether an error is about an empty config.
func IsEmptyConfig(err error) bool {
	if invalid, ok := err.(invalidError); ok {
		if len(invalid) != 1 {
			return false
		}
		err = invalid[0]
	}
	_, ok := err.(*emptyConfigError)
	return ok
}

// IsConfigurationInvalid reports whether an error is about mistakes in a config.
func IsConfigurationInvalid(err error) bool {
	if _, ok := err.(invalidError); ok {
		return true
	}
	return IsContextNotFound(err)
}

// MissingConfigError lists the files that are missing.
type MissingConfigError struct {
	Missing []string
}

func (c MissingConfigError) Error() string {
	return "Config not found: " + strings.Join(c.Missing, ", ")
}
