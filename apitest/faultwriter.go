package apitest

import (
	"net/http"
	"time"

	"github.com/kinform/kinform/apitest/internal/wire"
)

// response is a response that a fault writes.
type response struct {
	http.ResponseWriter
	req *Request
}

// contentType returns the Content-Type of the normal response.
func (r *response) contentType() string {
	f, _ := wire.Negotiate(r.req.HTTP.Header.Get("Accept"), r.req.res == nil || r.req.res.Protobuf())
	if r.req.Verb == "watch" {
		return f.StreamType()
	}
	return f.ContentType()
}

func (r *response) raw(code int, contentType, body string) {
	r.Header().Set("Content-Type", contentType)
	r.WriteHeader(code)
	_, _ = r.Write([]byte(body))
}

// faultWriter applies the faults that affect the body of a response.
type faultWriter struct {
	http.ResponseWriter
	conn    *http.ResponseController
	effects *effects
	left    int // bytes that are left before the cut

	// One of these channels is closed when the client no longer waits for the body.
	done, closed <-chan struct{}
}

// withFaults returns the writer for a response. It returns w itself if no fault affects the body.
func withFaults(w http.ResponseWriter, effects *effects, done, closed <-chan struct{}) http.ResponseWriter {
	if effects.contentType == "" && effects.bytesPerSecond == 0 && !effects.cut {
		return w
	}
	return &faultWriter{ResponseWriter: w, conn: http.NewResponseController(w), effects: effects, left: effects.cutAfter, done: done, closed: closed}
}

// Unwrap returns the underlying writer for http.ResponseController.
func (s *faultWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *faultWriter) WriteHeader(code int) {
	if s.effects.contentType != "" {
		s.Header().Set("Content-Type", s.effects.contentType)
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *faultWriter) Write(b []byte) (written int, err error) {
	cut := s.effects.cut && len(b) >= s.left
	if cut {
		b = b[:s.left]
	}
	s.left -= len(b)
	if s.effects.bytesPerSecond > 0 {
		written, err = s.writeSlowly(b)
	} else {
		written, err = s.ResponseWriter.Write(b)
	}
	if cut {
		_ = s.conn.Flush()
		panic(http.ErrAbortHandler)
	}
	return written, err
}

// writeSlowly writes a body slowly, in ten pieces a second.
func (s *faultWriter) writeSlowly(b []byte) (written int, err error) {
	size := s.effects.bytesPerSecond / 10
	for len(b) > 0 {
		n, err := s.ResponseWriter.Write(b[:min(size, len(b))])
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
		_ = s.conn.Flush()
		if !sleep(time.Second/10, s.done, s.closed) {
			return written, http.ErrAbortHandler
		}
	}
	return written, nil
}

// sleep waits for d. It returns false if one of the channels is closed first.
func sleep(d time.Duration, done, closed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-done:
		return false
	case <-closed:
		return false
	}
}
