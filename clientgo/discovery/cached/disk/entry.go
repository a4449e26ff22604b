package disk

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// entry is an answer in a file: a line of JSON, and the body.
type entry struct {
	URL      string
	Accept   string
	Received time.Time
	Header   http.Header // what says how long the answer counts, and what it is
	Sum      string      // of the body, which may have been damaged
	body     []byte
}

// keptHeaders are the headers of an answer that are kept. Cookies and the like are not among them.
var keptHeaders = []string{"Cache-Control", "Content-Type", "Date", "Etag", "Expires", "Last-Modified", "Vary"}

func newEntry(response *http.Response, now time.Time) *entry {
	e := &entry{URL: locator(response.Request.URL), Accept: response.Request.Header.Get("Accept"), Received: now, Header: http.Header{}}
	for _, name := range keptHeaders {
		if values := response.Header.Values(name); len(values) > 0 {
			e.Header[name] = values
		}
	}
	return e
}

// locator returns a URL without credentials.
func locator(u *url.URL) string {
	plain := *u
	plain.User = nil
	return plain.String()
}

// file returns the name of the file for a path and a form. The parameters are not in it: they are a hash of the document, whose
// successor takes its place.
func (t *transport) file(locator, accept string) string {
	path, _, _ := strings.Cut(locator, "?")
	sum := sha256.Sum256([]byte("kinform\n" + path + "\n" + accept))
	return filepath.Join(t.directory, hex.EncodeToString(sum[:]))
}

// load returns the answer to a request that is in a file, or nil.
func (t *transport) load(r *http.Request) *entry {
	at, accept := locator(r.URL), r.Header.Get("Accept")
	f, err := os.Open(t.file(at, accept))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	reader := bufio.NewReader(io.LimitReader(f, maxFile))
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return nil
	}
	e := &entry{}
	if json.Unmarshal(line, e) != nil || e.URL != at || e.Accept != accept {
		return nil
	}
	if e.body, err = io.ReadAll(reader); err != nil || e.Sum != sumOf(e.body) {
		return nil
	}
	return e
}

// store writes an answer to its file.
func (t *transport) store(e *entry, body []byte) error {
	e.Sum = sumOf(body)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return writeFile(t.file(e.URL, e.Accept), line, []byte("\n"), body)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// response returns the answer as if the server had sent it.
func (e *entry) response(r *http.Request) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.Header.Clone(), Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: r,
	}
}

// fresh returns whether an answer counts without a question to the server.
func (e *entry) fresh(now time.Time) bool {
	age := now.Sub(e.Received)
	return age >= 0 && age < lifetime(e.Header)
}

// lifetime returns how long a server says that an answer counts.
func lifetime(h http.Header) time.Duration {
	said := directives(h)
	if said["no-cache"] != nil || said["no-store"] != nil {
		return 0
	}
	if age := said["max-age"]; age != nil {
		seconds, err := strconv.Atoi(*age)
		if err != nil || seconds < 0 {
			return 0
		}
		return time.Duration(min(seconds, 365*24*60*60)) * time.Second
	}
	expires, err := time.Parse(time.RFC1123, h.Get("Expires")) // API servers write UTC, where http.ParseTime demands GMT
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return expires.Sub(sent)
}

// directives returns what Cache-Control says.
func directives(h http.Header) map[string]*string {
	said := map[string]*string{}
	for _, line := range h.Values("Cache-Control") {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			value = strings.Trim(value, `"`)
			said[strings.ToLower(name)] = &value
		}
	}
	return said
}
