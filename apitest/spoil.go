package apitest

import (
	"net/http"
	"time"
)

// response is a response that a fault writes.
type response struct {
	http.ResponseWriter
	req *Request
}

// contentType returns the Content-Type of the normal response.
func (r *response) contentType() string {
	f, _ := negotiate(r.req.HTTP.Header.Get("Accept"), r.req.res == nil || r.req.res.protobuf())
	if r.req.Verb == "watch" {
		return f.streamType()
	}
	return f.contentType()
}

func (r *response) raw(code int, contentType, body string) {
	r.Header().Set("Content-Type", contentType)
	r.WriteHeader(code)
	_, _ = r.Write([]byte(body))
}

// spoiled is a writer that applies the faults that concern the body.
type spoiled struct {
	http.ResponseWriter
	conn *http.ResponseController
	fate *fate
	left int // bytes that are left before the cut

	// One of these channels is closed when the client no longer waits for the body.
	done, closed <-chan struct{}
}

// spoil returns the writer for a response. It returns w itself if no fault concerns the body.
func spoil(w http.ResponseWriter, fate *fate, done, closed <-chan struct{}) http.ResponseWriter {
	if fate.contentType == "" && fate.bytesPerSecond == 0 && !fate.cut {
		return w
	}
	return &spoiled{ResponseWriter: w, conn: http.NewResponseController(w), fate: fate, left: fate.cutAfter, done: done, closed: closed}
}

// Unwrap returns the underlying writer for http.ResponseController.
func (s *spoiled) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiled) WriteHeader(code int) {
	if s.fate.contentType != "" {
		s.Header().Set("Content-Type", s.fate.contentType)
	}
	s.ResponseWriter.WriteHeader(code)
}

func (s *spoiled) Write(b []byte) (written int, err error) {
	cut := s.fate.cut && len(b) >= s.left
	if cut {
		b = b[:s.left]
	}
	s.left -= len(b)
	if s.fate.bytesPerSecond > 0 {
		written, err = s.drip(b)
	} else {
		written, err = s.ResponseWriter.Write(b)
	}
	if cut {
		_ = s.conn.Flush()
		panic(http.ErrAbortHandler)
	}
	return written, err
}

// drip writes a body slowly, in ten pieces a second.
func (s *spoiled) drip(b []byte) (written int, err error) {
	size := s.fate.bytesPerSecond / 10
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
