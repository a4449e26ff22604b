package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrMalformed means that a response has bytes that no API server sends. The bytes are incomplete,
// of the wrong type, not JSON, and so on. All errors about such bytes wrap it.
var ErrMalformed = errors.New("malformed response")

// ErrTooLarge means that an object, an event or the metadata of a list exceeds a limit. All errors
// about exceeded limits wrap it.
var ErrTooLarge = errors.New("object too large")

// Malformed returns an error that wraps ErrMalformed.
func Malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
}

// Excerpt returns the start of a text, at most limit bytes, or "unknown" for bytes that are not
// text.
func Excerpt(body []byte, limit int) string {
	start := body[:min(len(body), limit)]
	for i := 0; i < utf8.UTFMax-1 && len(start) < len(body) && !utf8.Valid(start); i++ {
		start = start[:len(start)-1] // the limit may have split a character
	}
	if !utf8.Valid(start) {
		return "unknown"
	}
	return strings.TrimSpace(string(start))
}

// BodyExcerpt returns the start of an unexpected body for an error, because a proxy's page may
// explain the failure. It shows "..." instead of bytes that may be an object, because the object
// may be a Secret.
func BodyExcerpt(body []byte) string {
	body = body[Space(body, 0):]
	if len(body) == 0 || body[0] == '{' || body[0] == '[' || bytes.HasPrefix(body, []byte(Magic)) {
		return "..."
	}
	return Excerpt(body, 256)
}

// CatchPanic calls f, which reads bytes from the network, and converts a panic into an error.
func CatchPanic(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while decoding: %v", p)
		}
	}()
	return f()
}
