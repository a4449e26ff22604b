//go:build unix

package top

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/ansi/parser"
	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

func TestLostPageIsReportedAndReconnected(t *testing.T) {
	l, err := lab.New(lab.Options{Pods: 3})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ran)
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	server := &http.Server{Handler: l.View()}
	go server.Serve(listener)
	e := top(t, 120, 30, l.View().Address("http://"+address+"/view/"))
	e.has("● live")
	require.NoError(t, server.Close())
	e.has(" LOST ", "tries again in", "the numbers are", "objects")
	e.press("n")
	e.has("✗ dial tcp", "refused")

	listener, err = net.Listen("tcp", address)
	require.NoError(t, err)
	server = &http.Server{Handler: l.View()}
	go server.Serve(listener)
	defer server.Close()
	e.until("live, and not lost", func(shown string) bool {
		return strings.Contains(shown, "● live") && !strings.Contains(shown, "LOST")
	})
	e.press("n")
	e.has("5 pods were created")
	e.press("q")
	require.NoError(t, e.wait())
}

func TestInvalidPages(t *testing.T) {
	v, err := view.New(view.Options{Private: true})
	require.NoError(t, err)
	private := httptest.NewServer(v)
	defer private.Close()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	html := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>")
	}))
	defer html.Close()
	moved := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer moved.Close()
	left, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, left.Close())
	for want, args := range map[string][]string{
		"refused":                                   {"http://" + left.Addr().String(), "--once"},
		"--token-file - asks for the token)":        {private.URL, "--once"},
		"this address has expired, or belongs to a": {private.URL + "/#code=" + strings.Repeat("A", 26), "--once"},
		"a token must not be an argument, because":  {private.URL + "/#token=" + v.Token(), "--once"},
		"--token-file: open /no/such":               {private.URL, "--token-file", "/no/such", "--once"},
		"must have one token and nothing else":      {private.URL, "--token-file", "page_test.go", "--once"},
		"--token-file is for a page, but a labora":  {"--token-file", "x"},
		"404 page not found":                        {other.URL, "--once"},
		"is not that of a page of kinform":          {html.URL, "--once"},
		"there is no page of kinform at http://":    {moved.URL, "--once"},
		`"ftp://x" is not the address of a page`:    {"ftp://x", "--once"},
		"an address must be the only argument":      {"http://x", "pods"},
		"--kubeconfig is for a cluster, but a la":   {"--kubeconfig", "x"},
		"--pods is for a laboratory, but a clust":   {"pods", "--pods", "3"},
		"--rate is for a laboratory, but a page":    {"http://x", "--rate", "3"},
		"--record is for pipelines in this process": {"http://x", "--record", "y"},
		"--width needs --once":                      {"--width", "9"},
		"--workers is 17: it must be from 1 to 16":  {"--workers", "17", "--once"},
		"is not an address on loopback":             {"--listen", "0.0.0.0:1", "--once"},
	} {
		cmd := Command()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		require.ErrorContains(t, cmd.ExecuteContext(t.Context()), want, "%v", args)
	}
	http.DefaultClient.CloseIdleConnections()
}

// The code in an address works once. The token can come from a file or from standard input. The
// page has only a recording, which top refuses as soon as it has access.
func TestCodeAndTokenOfAPage(t *testing.T) {
	text, err := os.ReadFile(fixture)
	require.NoError(t, err)
	v, err := view.New(view.Options{Private: true, Title: "a private page", Recording: text, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	served := httptest.NewServer(v)
	defer served.Close()
	defer http.DefaultClient.CloseIdleConnections()
	once := func(in string, args ...string) error {
		cmd := Command()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(append(args, "--once"))
		cmd.SetIn(strings.NewReader(in))
		cmd.SetOut(io.Discard)
		return cmd.ExecuteContext(t.Context())
	}
	address := v.Address(served.URL + "/")
	require.ErrorIs(t, once("", address), errRecording)
	require.ErrorContains(t, once("", address), "has been opened before")
	require.ErrorIs(t, once(v.Token()+"\n", served.URL, "--token-file", "-"), errRecording)
	require.ErrorIs(t, once(v.Token()+"\n", address, "--token-file", "-"), errRecording, "with a token, a used code must not matter")
	require.ErrorContains(t, once("another token than that\n", served.URL, "--token-file", "-"), "must have one token and nothing else")
	require.ErrorContains(t, once("another-token-than-that\n", served.URL, "--token-file", "-"), "needs the token")
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(v.Token()), 0o600))
	require.ErrorIs(t, once("", served.URL, "--token-file", file), errRecording)
}

func TestTokenFromTheTerminal(t *testing.T) {
	l, err := lab.New(lab.Options{View: view.Options{Private: true}})
	require.NoError(t, err)
	served := httptest.NewServer(l.View())
	defer served.Close()
	defer http.DefaultClient.CloseIdleConnections()
	e := top(t, 100, 30, served.URL, "--token-file", "-")
	e.press(l.View().Token() + enter)
	e.has("┌1 API server")
	e.press("q")
	require.NoError(t, e.wait())
}

// A response with too many values is refused before it is decoded.
func TestResponsesWithTooManyValuesAreRefused(t *testing.T) {
	bomb := strings.Repeat("{},", 200_000) + "{}"
	answers := map[string]string{
		"parts":  `{"parts":[` + bomb + `]}`,
		"stream": "data: " + `{"frame":{"events":[` + bomb + `]}}` + "\n\n",
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, answers[filepath.Base(r.URL.Path)])
	}))
	defer served.Close()
	p, err := newPage(served.URL, nil)
	require.NoError(t, err)
	defer http.DefaultClient.CloseIdleConnections()
	_, err = p.pipelines(t.Context())
	require.ErrorContains(t, err, "more than 100000 values")
	err = p.lines(t.Context(), "pods", func(view.Line) { t.Error("the response must not be decoded") })
	require.ErrorContains(t, err, "more than 100000 values")
	answers["parts"] = `{"parts":["` + strings.Repeat("x", maxResponse) + `"]}`
	_, err = p.pipelines(t.Context())
	require.ErrorContains(t, err, "more than 8388608 bytes")
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := Command()
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	require.NoError(t, cmd.ExecuteContext(t.Context()))
	return out.String()
}

func TestOnceIsText(t *testing.T) {
	shown := run(t, "--once", "--width", "100", "--pods", "11", "--rate", "100")
	require.NotContains(t, shown, "\x1b")
	require.Contains(t, shown, "┌1 API server")
	require.Contains(t, shown, "● live")
	require.Contains(t, shown, "time of a turn")
	// The pipeline decides which events these are. Under load, they are mainly events of the first
	// stages.
	require.Regexp(t, `── the last events.*\n +\d+\.\d s . \S`, shown)
	for row := range strings.Lines(shown) {
		require.LessOrEqual(t, cells(strings.TrimSuffix(row, "\n")), 100)
	}
}

// With --once, the text about each pipeline is from the same moment as the picture. It is not from
// before the first list.
func TestOncePrintsTheCurrentIndex(t *testing.T) {
	l, err := lab.New(lab.Options{Pods: 11})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	p, end := serve(l.View())
	before, err := p.pipelines(ctx)
	require.NoError(t, err)
	require.Contains(t, before.Pipelines[0].Problems[0], "not synced")
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, end())
		require.NoError(t, <-ran)
	}()

	var out strings.Builder
	require.NoError(t, once(ctx, p, before, 100, &out))
	require.Regexp(t, `✓ fine +pods +informer watching +11 `, out.String())
	require.Regexp(t, `✓ fine +pods +queue `, out.String())
	require.NotContains(t, out.String(), "not synced")

	before.Pipelines[1].Problems = []string{"something"}
	s := newScreen(p, time.Now())
	s.index.update(before, s.now)
	shown := ""
	for _, row := range s.indexText() {
		shown += row.String() + "\n"
	}
	require.Regexp(t, `✗ wrong +pods +informer`, shown)
	require.Regexp(t, `✗ wrong +pods +queue`, shown, "problems of the first pipeline must not displace the other pipelines")
}

func TestAClusterIsShown(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(server, apitest.Pods(17, apitest.PodOptions{Namespaces: 2})))
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(config, kubeconfig.Connection{Config: rest.Config{Host: server.URL()}}))
	e := top(t, 120, 40, "pods", "namespaces", "-A", "--kubeconfig", config)
	e.has("● live", "pods", "17", "watching")
	e.press("m")
	e.has("This program has no laboratory, so it cannot be changed.")
	e.press("6")
	e.has("There is none here.")
	e.press("i")
	e.has("All pipelines", "pods", "namespaces", "✓ fine")
	e.press("\x1b[F" + enter)
	e.has("namespaces  ● live")
	e.press("q")
	require.NoError(t, e.wait())

	shown := run(t, "pods", "-A", "--once", "--kubeconfig", config)
	require.Regexp(t, `│objects +17 *│`, shown)
}

func TestRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seen.jsonl")
	e := top(t, 80, 24, "--pods", "5", "--record", path)
	e.has("● live")
	e.press("n")
	e.has("5 pods were created")
	e.press("q")
	require.NoError(t, e.wait())
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	hello, frames, err := view.ReadRecording(file)
	require.NoError(t, err)
	require.Equal(t, "kinform laboratory", hello.Title)
	n := 0
	for _, err := range frames {
		require.NoError(t, err)
		n++
	}
	require.Positive(t, n)
}

const hostile = "a\x1b]0;owned\x07\x1b[2J\x1b[41m\u009b5m\x7f\u202e\r\n\t日本\u0301\u200d\U0001F1E9\U0001F3FE\x00e\xff"

// poisoned replaces each text in a value by a hostile one.
func poisoned(value any) any {
	switch v := value.(type) {
	case string:
		return hostile
	case []any:
		for n := range v {
			v[n] = poisoned(v[n])
		}
	case map[string]any:
		for k := range v {
			switch k {
			case "id", "box", "kind", "e", "unit", "key":
				// These keys stay, because otherwise the screen would show nothing.
			default:
				v[k] = poisoned(v[k])
			}
		}
	}
	return value
}

// Every text of the page tries to control the terminal.
func TestHostileTextsCannotControlTheTerminal(t *testing.T) {
	l, err := lab.New(lab.Options{Pods: 6, Rate: 100})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ran)
	}()
	poison := func(line []byte) []byte {
		var value any
		require.NoError(t, json.Unmarshal(line, &value))
		value = poisoned(value)
		if frame, ok := value.(map[string]any)["frame"].(map[string]any); ok {
			frame["wrong"] = []string{hostile, strings.Repeat("長い", 5000)}
			frame["laboratory"] = map[string]string{hostile: hostile}
			frame["boxes"] = append(frame["boxes"].([]any), map[string]any{"id": hostile, "name": hostile, "n": map[string]float64{hostile: 1e300}})
			frame["events"] = append(frame["events"].([]any), map[string]any{"e": hostile, "kind": hostile, "key": hostile, "text": hostile, "at": -1})
			frame["keys"] = map[string]any{hostile: map[string]any{"all": 3, "list": []map[string]any{{"key": hostile, "processing": true}, {"key": hostile + "2", "ready": true}, {"key": hostile + "3", "in": 3, "retries": 4}}}}
		}
		line, err := json.Marshal(value)
		require.NoError(t, err)
		return line
	}
	var busy atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Base(r.URL.Path) {
		case "stream":
			busy.Add(1)
			defer busy.Add(-1)
			hello, frames, err := l.View().Frames(r.Context(), "")
			if err != nil {
				return
			}
			line, _ := json.Marshal(view.Line{Hello: hello})
			fmt.Fprintf(w, "data: %s\n\n", poison(line))
			for f := range frames {
				line, _ := json.Marshal(view.Line{Frame: f})
				if len(f.Events) == 0 {
					continue
				}
				fmt.Fprintf(w, "data: %s\n\n", poison(line))
				w.(http.Flusher).Flush()
			}
		case "parts":
			_ = json.NewEncoder(w).Encode(view.Pipelines{Title: hostile, Pipelines: []view.Pipeline{{Name: hostile, Kind: hostile, State: hostile, Problems: []string{hostile}}}})
		case "do":
			http.Error(w, hostile, http.StatusConflict)
		}
	}))
	defer server.Close()
	e := top(t, 100, 40, server.URL+"/")
	e.has("● live")
	keys := []string{"t", "t", "?", "?", "i", "i", "1", "2", "3", "4", "5", "6", "7", "m", escape, "p", escape, "n", " ", " "}
	for _, key := range keys {
		e.press(key)
		time.Sleep(60 * time.Millisecond)
		e.until("a layout that is whole", func(shown string) bool {
			// A partly drawn screen does not count.
			row := strings.Split(shown, "\n")[2]
			return !strings.HasPrefix(row, "┌1 ") || cells(row) == 100
		})
	}
	e.has("✗ a\ufffd")
	e.press("q")
	require.NoError(t, e.wait())
	e.mu.Lock()
	defer e.mu.Unlock()
	require.Empty(t, e.title)
	onlyOwnSequences(t, e.wrote.String())
}

// onlyOwnSequences checks that a terminal received only control sequences of the terminal library.
func onlyOwnSequences(t *testing.T, written string) {
	t.Helper()
	state, p := byte(0), ansi.NewParser()
	for len(written) > 0 {
		seq, _, n, next := ansi.DecodeSequence(written, state, p)
		state, written = next, written[n:]
		switch {
		case strings.HasPrefix(seq, "\x1b]"), strings.HasPrefix(seq, "\u009d"):
			require.NotContains(t, seq, "owned")
		case strings.HasPrefix(seq, "\x1b["), strings.HasPrefix(seq, "\x1b"):
			require.NotEqual(t, "\x1b[41m", seq, "the background of the hostile text must not reach the terminal")
			require.NotEqual(t, "\x1b[5m", seq)
		case len(seq) == 1 && seq[0] < ' ':
			require.Contains(t, "\r\n\b\t", seq)
		default:
			for _, r := range seq {
				require.False(t, isUnsafeRune(r), "%q", seq)
			}
		}
	}
	require.NotEqual(t, parser.OscStringState, state)
}
