package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

const helloLine = `{"hello":{"version":1,"title":"a test","name":"pods","start":1,"every":100,"boxes":[],"numbers":[]}}` + "\n"

// read returns all frames of a recording, and the error at its end.
func read(r io.Reader) (*Hello, []*Frame, error) {
	hello, frames, err := ReadRecording(r)
	if err != nil {
		return nil, nil, err
	}
	var all []*Frame
	for f, err := range frames {
		if err != nil {
			return hello, all, err
		}
		all = append(all, f)
	}
	return hello, all, nil
}

// A recording has the same frames as the stream for viewers.
func TestRecordingEqualsTheStream(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Title: "a <title>"}, 3, nil)
	var file bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	reader, writer := io.Pipe()
	go func() {
		ended <- r.view.Record(ctx, io.MultiWriter(&file, writer), "")
		writer.Close()
	}()
	seen := 0
	hello, frames, err := ReadRecording(reader)
	require.NoError(t, err)
	for f, err := range frames {
		require.NoError(t, err)
		require.NotEmpty(t, f.Boxes)
		if seen++; seen == 3 {
			stop()
		}
	}
	require.NoError(t, <-ended)
	again, all, err := read(&file)
	require.NoError(t, err)
	require.Equal(t, hello, again)
	require.Equal(t, "a <title>", again.Title)
	require.Len(t, all, seen)
}

func TestInvalidRecordings(t *testing.T) {
	t.Parallel()
	long := `{"frame":{"seq":1,"at":1,"wrong":["` + strings.Repeat("a", MaxRecordingLine) + `"]}}`
	for _, c := range []struct {
		name, text, says string
		frames           int
	}{
		{"empty", "", "the file is empty", 0},
		{"nothing but empty lines", "\n \r\n", "the file is empty", 0},
		{"another file", "<html>", "line 1: not JSON of a recording: invalid character '<'", 0},
		{"another file of lines", "<html>\n", "line 1: not JSON of a recording: invalid character '<'", 0},
		{"JSON of something else", `{"kind":"Pod"}` + "\n", "line 1: the first line has no field hello", 0},
		{"a newer format", strings.Replace(helloLine, `"version":1`, `"version":2`, 1), "line 1: the format is 2, but this program knows formats up to 1", 0},
		{"no format", strings.Replace(helloLine, `"version":1`, `"version":0`, 1), "the version of the format is missing", 0},
		{"two in one file", helloLine + `{"frame":{"at":1}}` + "\n" + helloLine, "line 3: a second recording begins here", 1},
		{"a line of something else", helloLine + `{"frame":{"at":1}}` + "\n\n{}\n", "line 4: no frame", 1},
		{"lines in disorder", helloLine + `{"frame":{"at":200}}` + "\n" + `{"frame":{"at":100}}` + "\n", "line 3: the time is 100 ms, but an earlier line has 200 ms", 1},
		{"a negative time", helloLine + `{"frame":{"at":-1}}` + "\n", "line 2: the time is -1 ms", 0},
		{"a number out of range", helloLine + `{"frame":{"at":1e999}}` + "\n", "line 2: not JSON", 0},
		{"a field of another type", helloLine + `{"frame":{"at":1,"boxes":"many"}}` + "\n", "line 2: not JSON", 0},
		{"cut off", helloLine + `{"frame":{"at":1}}` + "\n" + `{"frame":{"at":2,"bo`, "line 3: cut off: the writer was interrupted", 1},
		{"a long line", helloLine + long + "\n", "line 2: more than 8388608 bytes", 0},
		{"a long line without an end", helloLine + long[:len(long)-8], "line 2: more than 8388608 bytes", 0},
	} {
		_, frames, err := read(strings.NewReader(c.text))
		require.ErrorIs(t, err, ErrRecording, c.name)
		require.ErrorContains(t, err, c.says, c.name)
		require.Len(t, frames, c.frames, c.name)
		require.Equal(t, strings.Contains(c.says, "cut off"), errors.Is(err, io.ErrUnexpectedEOF), c.name)
	}
	_, _, err := read(iotest.ErrReader(io.ErrClosedPipe))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

// A recording may end without a newline, and may have fields of later format versions.
func TestUnusualRecordings(t *testing.T) {
	t.Parallel()
	text := helloLine + `{"frame":{"seq":7,"at":1,"later":{"a":1}},"other":2}` + "\r\n\n" + `{"frame":{"seq":8,"at":1}}`
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "in pieces": iotest.OneByteReader(strings.NewReader(text))} {
		hello, frames, err := read(r)
		require.NoError(t, err, name)
		require.Equal(t, "pods", hello.Name)
		require.Len(t, frames, 2, name)
		require.Equal(t, uint64(8), frames[1].Seq)
	}
	_, frames, err := ReadRecording(strings.NewReader(text))
	require.NoError(t, err)
	for f, err := range frames { // the loop ends early
		require.NoError(t, err)
		require.Equal(t, uint64(7), f.Seq)
		break
	}
}

func FuzzReadRecording(f *testing.F) {
	fixture, err := os.ReadFile("testdata/relist.jsonl")
	require.NoError(f, err)
	lines := bytes.SplitAfter(fixture, []byte("\n"))
	f.Add(bytes.Join(lines[:3], nil))
	f.Add(fixture[:700])
	f.Add([]byte(helloLine + `{"frame":{"seq":7,"at":1,"boxes":[{"id":"queue","n":{"ready":1e308}}]}}`))
	f.Add([]byte("\n\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		hello, frames, err := ReadRecording(bytes.NewReader(text))
		if err != nil {
			require.ErrorIs(t, err, ErrRecording)
			return
		}
		require.NotNil(t, hello)
		at, ended := 0.0, false
		for f, err := range frames {
			require.False(t, ended, "an error must be the last element")
			if ended = err != nil; ended {
				require.ErrorIs(t, err, ErrRecording)
				continue
			}
			require.GreaterOrEqual(t, f.At, at)
			at = f.At
		}
	})
}

// A view without a pipeline serves a recording to admitted viewers.
func TestViewServesARecording(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/relist.jsonl")
	require.NoError(t, err)
	for _, shown := range [][]byte{text, text[:len(text)-9]} { // the second recording was cut off
		v, err := New(Options{Recording: shown, Private: true})
		require.NoError(t, err)
		for token, code := range map[string]int{v.Token(): 200, "": 401} {
			for _, path := range []string{"/recording", "/parts"} {
				r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil)
				r.RemoteAddr = "127.0.0.1:1"
				r.Header.Set("Authorization", "Bearer "+token)
				w := httptest.NewRecorder()
				v.ServeHTTP(w, r)
				require.Equal(t, code, w.Code, path)
				if code == 200 && path == "/recording" {
					require.Equal(t, shown, w.Body.Bytes())
				} else if code == 200 {
					require.JSONEq(t, `{"title":"kinform","parts":[],"recording":true}`, w.Body.String())
				}
			}
		}
	}
	_, err = New(Options{Recording: []byte("hello")})
	require.ErrorIs(t, err, ErrRecording)
	_, err = New(Options{Recording: []byte{}})
	require.ErrorContains(t, err, "the file is empty")
	r := start(t, Options{}, 0, nil)
	code, said, _ := r.ask(t, http.MethodGet, "recording", "", nil)
	require.Equal(t, 404, code)
	require.Contains(t, said, "this view shows no recording")
}

// A line cannot make the reader use far more memory than the line has bytes. This holds for every
// list in the format.
func TestLineWithTooManyValuesIsRefused(t *testing.T) {
	t.Parallel()
	const hello = `{"hello":{"version":1}}` + "\n"
	empty := strings.Repeat("{},", 1<<20)[:3<<20-1]
	lines := map[string]string{"an unknown field": hello + `{"frame":{"unknown":[` + empty + `]}}`}
	for _, list := range []string{"boxes", "handlers", "indexes", "events", "wrong"} {
		lines[list] = hello + `{"frame":{"` + list + `":[` + empty + `]}}`
	}
	for _, list := range []string{"list", "levels"} {
		lines["keys."+list] = hello + `{"frame":{"keys":{"q":{"` + list + `":[` + empty + `]}}}}`
	}
	lines["memory"] = hello + `{"frame":{"comparison":{"ways":[{"memory":[` + strings.ReplaceAll(empty, "{}", "[]") + `]}]}}}`
	lines["ways"] = hello + `{"frame":{"comparison":{"ways":[` + empty + `]}}}`
	lines["null"] = hello + `{"frame":{"events":[` + strings.ReplaceAll(empty, "{}", "0") + `]}}`
	var times strings.Builder
	for n := range 110_000 {
		fmt.Fprintf(&times, `,"%x":{}`, n)
	}
	lines["a map"] = hello + `{"frame":{"boxes":[{"t":{` + times.String()[1:] + `}}]}}`
	for _, list := range []string{"boxes", "numbers", "actions"} {
		lines["hello."+list] = `{"hello":{"version":1,"` + list + `":[` + empty + `]}}`
	}
	lines["inputs"] = `{"hello":{"version":1,"actions":[{"inputs":[` + empty + `]}]}}`
	for name, text := range lines {
		require.ErrorContains(t, checkRecording([]byte(text+"\n")), "more than 100000 values", name)
	}
}

func TestRealLinesAreAccepted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/relist.jsonl")
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		require.Less(t, countValues(line), maxJSONValues/50)
	}
	require.NoError(t, checkRecording([]byte(`{"hello":{"version":1,"title":"`+strings.Repeat(`,[{\"`, maxJSONValues)+`"}}`)), "commas and brackets in a text must not count as values")
}
