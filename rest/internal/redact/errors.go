package redact

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxErrorBytes bounds the text of an error, because net/http may quote any response in it.
const maxErrorBytes = 8 << 10

// Err hides the known secrets in an error. It changes the texts of a server's Status in place. If
// another part of the error's text has a secret, Err returns an error with another text, through
// which errors.Is still works. A text that is too long is truncated.
func (m *Redactor) Err(err error) error {
	if m == nil || err == nil {
		return err
	}
	if failed, ok := errors.AsType[*apierrors.StatusError](err); ok {
		m.status(&failed.ErrStatus)
	}
	text := err.Error()
	redactedText := m.Text(text[:min(len(text), maxErrorBytes)])
	if len(text) > maxErrorBytes {
		redactedText += "..."
	}
	if redactedText != text {
		return &redactedError{text: redactedText, redactor: m, reason: func() error { return err }}
	}
	return err
}

func (m *Redactor) status(status *metav1.Status) {
	texts := []*string{&status.Message, (*string)(&status.Reason), &status.Continue}
	if details := status.Details; details != nil {
		texts = append(texts, &details.Name, &details.Group, &details.Kind, (*string)(&details.UID))
		for i := range details.Causes {
			cause := &details.Causes[i]
			texts = append(texts, (*string)(&cause.Type), &cause.Message, &cause.Field)
		}
	}
	for _, text := range texts {
		*text = m.Text(*text)
	}
}

// redactedError is an error with the text of its reason, without the secrets. The reason is behind
// a function, so that printers do not find it; see Hidden.
type redactedError struct {
	text     string
	redactor *Redactor
	reason   func() error
}

// Error returns the text without its secrets.
func (e *redactedError) Error() string { return e.text }

// Is calls errors.Is for the reason. There is no Unwrap, because the reason has the secrets.
func (e *redactedError) Is(target error) bool { return errors.Is(e.reason(), target) }

// As does the work of errors.As for the errors within the reason whose texts have no secret, such
// as the Status of a server. It does not find an error whose text has a secret, or that wraps such
// an error.
func (e *redactedError) As(target any) bool {
	return e.redactor.as(e.reason(), target)
}

// as does the work of errors.As for the errors within err whose texts have no secret.
func (m *Redactor) as(err error, target any) bool {
	if !m.hasSecret(err) {
		return errors.As(err, target)
	}
	return slices.ContainsFunc(unwrapped(err), func(inner error) bool { return m.as(inner, target) })
}

// hasSecret reports whether the text of an error, or of an error that it wraps, has a known secret.
func (m *Redactor) hasSecret(err error) bool {
	text := err.Error()
	return m.Text(text) != text || slices.ContainsFunc(unwrapped(err), m.hasSecret)
}

// unwrapped returns the errors that an error wraps directly.
func unwrapped(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return []error{inner}
		}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	}
	return nil
}
