package top

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kinform/kinform/view"
)

// page is a page of package view, in this process or in another one. Both kinds are read in the
// same way.
type page struct {
	base   *url.URL // always ends with a slash
	code   string   // one-time code, exchanged for a session
	token  string   // the token, or a session
	client *http.Client
}

// newPage returns the page at an address. The address may end with a one-time code, like the
// addresses that the commands print.
func newPage(address string, transport http.RoundTripper) (*page, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		address, _, _ = strings.Cut(address, "#")
		return nil, fmt.Errorf("%q is not the address of a page: give an address like http://127.0.0.1:8080/view/", address)
	}
	values, err := url.ParseQuery(u.Fragment)
	switch {
	case err != nil:
		return nil, errors.New("the part of the address after # is not a code")
	case values.Has("token"):
		return nil, errors.New("a token must not be an argument, because all users of this machine can read arguments: leave the token out of the address, and use --token-file")
	}
	u.Fragment, u.RawQuery = "", ""
	u.Path = strings.TrimSuffix(u.Path, "index.html")
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return &page{base: u, code: values.Get("code"), client: &http.Client{
		Transport: transport,
		// The token must not be sent to another page.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// exchangeCode exchanges the code of the address, if it has one.
func (p *page) exchangeCode(ctx context.Context) error {
	if p.code == "" {
		return nil
	}
	body, err := json.Marshal(map[string]string{"code": p.code})
	if err != nil {
		return err
	}
	var given struct {
		Session string `json:"session"`
	}
	if err := p.read(ctx, http.MethodPost, "session", bytes.NewReader(body), &given); err != nil {
		return err
	}
	p.token, p.code = cmp.Or(given.Session, p.token), ""
	return nil
}

// maxResponse limits the size of a response that is read as a whole.
const maxResponse = 8 << 20

// send sends a request. Its error is a sentence for users.
func (p *page) send(ctx context.Context, method, what string, query url.Values, body io.Reader) (*http.Response, error) {
	u := p.base.JoinPath(what)
	u.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if p.token != "" {
		request.Header.Set("Authorization", "Bearer "+p.token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := p.client.Do(request)
	if err != nil {
		if failed := (&url.Error{}); errors.As(err, &failed) {
			err = failed.Err // The address is already on the screen.
		}
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	message, _ := io.ReadAll(io.LimitReader(response.Body, maxText))
	if response.StatusCode == http.StatusUnauthorized {
		message = append(bytes.TrimSpace(message), " (kinform top --token-file - asks for the token)"...)
	}
	if media := response.Header.Get("Content-Type"); !strings.HasPrefix(media, "text/plain") || len(bytes.TrimSpace(message)) == 0 {
		return nil, fmt.Errorf("the response to %s is %s: there is no page of kinform at %v", what, response.Status, p.base)
	}
	return nil, errors.New(string(bytes.TrimSpace(message)))
}

// read sends a request, and decodes the JSON response.
func (p *page) read(ctx context.Context, method, what string, body io.Reader, into any) error {
	response, err := p.send(ctx, method, what, nil, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := readLimited(response.Body, maxResponse)
	if err == nil {
		err = view.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("the response to %s is not that of a page of kinform: %w", what, err)
	}
	return nil
}

// pipelines returns the index of all pipelines.
func (p *page) pipelines(ctx context.Context) (all view.Pipelines, err error) {
	err = p.read(ctx, http.MethodGet, "parts", nil, &all)
	sanitize(&all)
	return all, err
}

// do performs an action of the laboratory. It returns a sentence about the effect.
func (p *page) do(ctx context.Context, action string, values map[string]string) (string, error) {
	body, err := json.Marshal(map[string]any{"action": action, "values": values})
	if err != nil {
		return "", err
	}
	var said struct {
		Done string `json:"done"`
	}
	err = p.read(ctx, http.MethodPost, "do", bytes.NewReader(body), &said)
	return safe(said.Done), err
}

func readLimited(r io.Reader, most int64) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(all)) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return all, err
}

// errEnded is the error of the method lines if the program has ended the stream.
var errEnded = errors.New("the program has ended the stream")

// silenceTimeout is how long a stream may be silent. A stream normally has a frame every tenth of a
// second.
const silenceTimeout = 15 * time.Second

// lines passes every line of a pipeline to the function each, until ctx or the stream ends. The
// error is never nil.
func (p *page) lines(ctx context.Context, of string, each func(view.Line)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watchdog := time.AfterFunc(silenceTimeout, func() { stop(fmt.Errorf("nothing has arrived for %v", silenceTimeout)) })
	defer watchdog.Stop()
	response, err := p.send(ctx, http.MethodGet, "stream", url.Values{"of": {of}}, nil)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer response.Body.Close()
	scanner := bufio.NewScanner(response.Body)
	scanner.Buffer(make([]byte, 64<<10), view.MaxRecordingLine)
	for scanner.Scan() {
		watchdog.Reset(silenceTimeout)
		text, ok := bytes.CutPrefix(scanner.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		var l view.Line
		if err := view.Unmarshal(text, &l); err != nil {
			return fmt.Errorf("the stream is not that of a page of kinform: %w", err)
		}
		if l.Hello != nil && l.Hello.Version > view.FormatVersion {
			return fmt.Errorf("the stream has format %d, but this program knows formats up to %d: use a newer kinform", l.Hello.Version, view.FormatVersion)
		}
		sanitize(&l)
		each(l)
	}
	if err := scanner.Err(); err != nil {
		return causeOf(ctx, err)
	}
	return errEnded
}

// causeOf returns why a request was cancelled, if that is known.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
