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

// entry is a cached response. Its file has a line of JSON, followed by the body.
type entry struct {
	URL      string
	Accept   string
	Received time.Time
	Header   http.Header // headers for validity and content type
	Sum      string      // checksum of the body, to detect damage
	body     []byte
}

// storedHeaders lists the response headers that are stored. Cookies are not stored.
var storedHeaders = []string{"Cache-Control", "Content-Type", "Date", "Etag", "Expires", "Last-Modified", "Vary"}

func newEntry(response *http.Response, now time.Time) *entry {
	e := &entry{URL: urlWithoutUser(response.Request.URL), Accept: response.Request.Header.Get("Accept"), Received: now, Header: http.Header{}}
	for _, name := range storedHeaders {
		if values := response.Header.Values(name); len(values) > 0 {
			e.Header[name] = values
		}
	}
	return e
}

// urlWithoutUser returns a URL without credentials.
func urlWithoutUser(u *url.URL) string {
	plain := *u
	plain.User = nil
	return plain.String()
}

// file returns the file name for a path and media type. It ignores the query parameters, which have
// a hash of the document. So a new version of the document replaces the old version.
func (t *transport) file(locator, accept string) string {
	path, _, _ := strings.Cut(locator, "?")
	sum := sha256.Sum256([]byte("kinform\n" + path + "\n" + accept))
	return filepath.Join(t.directory, hex.EncodeToString(sum[:]))
}

// load returns the stored response to a request, or nil.
func (t *transport) load(r *http.Request) *entry {
	at, accept := urlWithoutUser(r.URL), r.Header.Get("Accept")
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

// store writes a response to its file.
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

// response returns the entry as an HTTP response to r.
func (e *entry) response(r *http.Request) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: e.Header.Clone(), Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: r,
	}
}

// fresh reports whether the entry may be used without a request to the server.
func (e *entry) fresh(now time.Time) bool {
	age := now.Sub(e.Received)
	return age >= 0 && age < lifetime(e.Header)
}

// lifetime returns how long the server allows a response to be used.
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
	// API servers write UTC, but http.ParseTime requires GMT
	expires, err := time.Parse(time.RFC1123, h.Get("Expires"))
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return expires.Sub(sent)
}

// directives parses Cache-Control.
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
