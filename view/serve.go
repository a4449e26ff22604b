package view

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed page
var embedded embed.FS

// page has the files of the page.
var page = func() fs.FS {
	files, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // cannot happen: the name is valid
	}
	return files
}()

// ServeHTTP serves the page and its requests. It looks only at the last element of a path, so the
// view works below any path.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setSecurityHeaders(w.Header())
	wanted := ""
	if !strings.HasSuffix(r.URL.Path, "/") {
		wanted = path.Base(r.URL.Path)
	}
	if err := v.serve(w, r, wanted); err != nil {
		writeError(w, err)
	}
}

// serve responds to a request. If it returns an error, it has not written a response.
func (v *View) serve(w http.ResponseWriter, r *http.Request, wanted string) error {
	var handler func(http.ResponseWriter, *http.Request) error
	switch wanted {
	case "stream":
		handler = v.serveStream
	case "parts":
		handler = v.servePipelines
	case "lookup":
		handler = v.serveLookup
	case "object":
		handler = v.serveObject
	case "do":
		handler = v.serveAction
	case "recording":
		handler = v.serveRecording
	case "session":
		handler = v.serveSession
	}
	if err := v.checkRequest(r, handler != nil); err != nil {
		return err
	}
	if handler != nil && wanted != "session" {
		if err := v.checkRead(r); err != nil {
			return err
		}
	}
	if handler != nil {
		return handler(w, r)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return statusErrorf(http.StatusMethodNotAllowed, "only GET is allowed here")
	}
	if wanted == "" {
		wanted = "index.html"
	}
	if _, err := fs.Stat(page, wanted); err != nil {
		return statusErrorf(http.StatusNotFound, "the view has no page %q", clean(wanted))
	}
	if wanted == "index.html" {
		http.ServeFileFS(w, withPath(r, "/"), page, "index.html")
		return nil
	}
	http.ServeFileFS(w, r, page, wanted)
	return nil
}

// withPath returns a copy of the request with another path.
func withPath(r *http.Request, path string) *http.Request {
	r = r.Clone(r.Context())
	r.URL.Path = path
	return r
}

// writeTimeout is how long a viewer may stop reading before its connection is closed.
const writeTimeout = 15 * time.Second

// serveStream sends frames as server-sent events. A slow viewer misses frames. A viewer that does
// not read for the time writeTimeout is disconnected.
func (v *View) serveStream(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("of")
	if v.frameBuilder(name) == nil {
		return ErrUnknownPipeline
	}
	seat, err := v.seats.acquire(r.Context(), v.opts.MaxViewers, v.authorized(r))
	if err != nil {
		return err
	}
	defer v.seats.release(seat)
	control := http.NewResponseController(w)
	begun := false
	send := func(format string, args ...any) {
		_ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) // may be unsupported
		_, err := fmt.Fprintf(w, format, args...)
		if err = errors.Join(err, control.Flush()); err != nil {
			panic(http.ErrAbortHandler) // the response has already begun
		}
	}
	err = v.lines(seat.ctx, name, func(line []byte) error {
		if begun && v.checkRead(r) != nil {
			panic(http.ErrAbortHandler) // The session has ended. A reconnect gets the reason.
		}
		if !begun {
			begun = true
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("X-Accel-Buffering", "no")
			if err := control.Flush(); errors.Is(err, errors.ErrUnsupported) {
				return statusErrorf(http.StatusInternalServerError, "frames cannot be streamed: the program wraps the http.ResponseWriter in a %T, which hides Flush: add a method Unwrap that returns the wrapped http.ResponseWriter", w)
			}
		}
		send("data: %s\n\n", line)
		return nil
	})
	if begun && context.Cause(seat.ctx) == errReplaced {
		send("retry: %d\n\n", replacedRetry.Milliseconds())
	}
	return err
}

// maxActionBody limits the body of a request for an action.
const maxActionBody = 16 << 10

// serveAction performs an action of the laboratory.
func (v *View) serveAction(w http.ResponseWriter, r *http.Request) error {
	if err := v.checkWrite(r); err != nil {
		return err
	}
	var wanted struct {
		Action string            `json:"action"`
		Values map[string]string `json:"values"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxActionBody)).Decode(&wanted); err != nil {
		return statusErrorf(http.StatusBadRequest, "the request is not an action: %w", err)
	}
	for _, action := range v.opts.Laboratory.Actions() {
		if action.ID != wanted.Action {
			continue
		}
		values, err := action.values(wanted.Values)
		if err != nil {
			return statusErrorf(http.StatusBadRequest, "%w", err)
		}
		done, err := v.opts.Laboratory.Do(r.Context(), action.ID, values)
		if err != nil {
			return statusErrorf(http.StatusConflict, "%w", err)
		}
		return writeJSON(w, map[string]string{"done": clean(done)})
	}
	return statusErrorf(http.StatusNotFound, "there is no action %q", clean(wanted.Action))
}

func (v *View) servePipelines(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, v.Pipelines())
}

func (v *View) serveRecording(w http.ResponseWriter, r *http.Request) error {
	if v.opts.Recording == nil {
		return statusErrorf(http.StatusNotFound, "this view shows no recording")
	}
	w.Header().Set("Content-Type", "application/jsonl")
	http.ServeContent(w, r, "", v.start, bytes.NewReader(v.opts.Recording))
	return nil
}

func writeJSON(w http.ResponseWriter, response any) error {
	body, err := json.Marshal(response)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // An error cannot be reported: the client is gone.
	return nil
}
