package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWriterEscapesControlCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain text, größer, 日本, 🙂\n\tindented": "plain text, größer, 日本, 🙂\n\tindented",
		"\x1b[2J\x1b]0;title\x07":               `\u001b[2J\u001b]0;title\u0007`,
		"over\rwritten\b\x7f\x00":               `over\u000dwritten\u0008\u007f\u0000`,
		"\u009b2J \u0085":                       `\u009b2J \u0085`,
		"\u202eevil\u2066\u200f\ufeff":          `\u202eevil\u2066\u200f\ufeff`,
		"\u2028\u2029\u00a0":                    `\u2028\u2029\u00a0`,
		"\xff\x9b \xf0\x9f":                     `\xff\x9b \xf0\x9f`,
		"\ufffd":                                "\ufffd",
		"\U000e0041":                            `\udb40\udc41`,
		"":                                      "",
	} {
		var out bytes.Buffer
		n, err := NewWriter(&out).Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		require.Equal(t, want, out.String())
	}
	require.Equal(t, `a\u000ab\u0009c\u000d`, Text("a\nb\tc\r"), "a text from a server must not begin a line")
}

func TestWriterReturnsWriteErrors(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	gone := errors.New("gone")
	require.NoError(t, reader.CloseWithError(gone))
	_, err := NewWriter(writer).Write([]byte("a\x1b"))
	require.ErrorIs(t, err, gone)
	require.Equal(t, os.Stderr, File(NewWriter(os.Stderr)))
	require.Equal(t, os.Stderr, File(os.Stderr))
	require.Nil(t, File(writer))
}

// TestLogIsEscaped: the text handler of log/slog escapes by itself. The JSON handler does not
// escape, so the Writer has to.
func TestLogIsEscaped(t *testing.T) {
	t.Parallel()
	for _, handler := range []func(io.Writer) slog.Handler{
		func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(NewWriter(&out))).Warn("message", "warning", hostile)
		requireSafe(t, out.String())
	}
}

const hostile = "a\x1b[2J\u009b\x7f\u202e\r\xff\u2066"

func requireSafe(t require.TestingT, text string) {
	for _, r := range text {
		require.True(t, unicode.IsPrint(r) || r == '\n' || r == '\t', "%q in %q", r, text)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		_, err := NewWriter(&out).Write([]byte(text))
		require.NoError(t, err)
		requireSafe(t, out.String())
		require.True(t, utf8.ValidString(out.String()))

		out.Reset()
		encoder := json.NewEncoder(NewWriter(&out))
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(text))
		requireSafe(t, out.String())
		var plain bytes.Buffer
		require.NoError(t, json.NewEncoder(&plain).Encode(text))
		var want, got string
		require.NoError(t, json.Unmarshal(plain.Bytes(), &want))
		require.NoError(t, json.Unmarshal(out.Bytes(), &got))
		require.Equal(t, want, got, "escapes must not change the string in JSON")
	})
}
