package apitest

import (
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Action is what a [Fault] does. Make one with the functions below; the zero
// value is none.
type Action struct{ apply func(*fate) }

// Fail answers with the Status of an error, such as those of the package
// k8s.io/apimachinery/pkg/api/errors; any other error is one of code 500. If the
// Status tells to retry after some seconds, the header Retry-After says so as well.
func Fail(err error) Action {
	return answer(func(r *response) { writeStatus(r, r.req.HTTP, errStatus(err)) })
}

// Code answers with a bare Status of this code, and with retryAfter, rounded up
// to whole seconds, unless it is 0.
func Code(code int, retryAfter time.Duration) Action {
	err := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", http.StatusText(code), wholeSeconds(retryAfter), false)
	return Fail(err)
}

// Expired answers 410: a list or a watch from this resourceVersion is no longer
// possible.
func Expired() Action {
	return Fail(apierrors.NewResourceExpired("too old resource version"))
}

// TooManyRequests answers 429 as the server's priority and fairness does: with
// Retry-After, rounded up to whole seconds and at least one, and a text that is no
// Status.
func TooManyRequests(retryAfter time.Duration) Action {
	return answer(func(r *response) {
		r.Header().Set("Retry-After", strconv.Itoa(max(wholeSeconds(retryAfter), 1)))
		http.Error(r, "Too many requests, please try again later.", http.StatusTooManyRequests)
	})
}

// Body answers with a given body.
func Body(code int, contentType, body string) Action {
	return answer(func(r *response) { r.raw(code, contentType, body) })
}

// HTML answers 200 with a page, as a captive portal or a proxy's login does.
func HTML() Action {
	return Body(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><body><h1>Sign in</h1></body></html>\n")
}

// Empty answers 200 without a body, with the right Content-Type.
func Empty() Action {
	return answer(func(r *response) { r.raw(http.StatusOK, r.contentType(), "") })
}

// Garbage answers 200 with the right Content-Type and a body that is neither JSON
// nor protobuf.
func Garbage() Action {
	return answer(func(r *response) { r.raw(http.StatusOK, r.contentType(), "\x00\xff\xfe garbage \x80\x81\n") })
}

// Table answers with a meta.k8s.io/v1 Table, which nobody asked for; a watch gets
// one as an event.
func Table() Action {
	table := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[],"rows":[]}`
	return answer(func(r *response) {
		if r.req.Verb == "watch" {
			r.raw(http.StatusOK, jsonType, `{"type":"ADDED","object":`+table+"}\n")
			return
		}
		r.raw(http.StatusOK, jsonType, table+"\n")
	})
}

// Drop closes the connection without an answer.
func Drop() Action {
	return answer(func(*response) { panic(http.ErrAbortHandler) })
}

// Delay waits before the request is answered, or until the client gives up.
func Delay(d time.Duration) Action {
	return Action{func(f *fate) { f.delay = d }}
}

// ContentType answers as always, with another Content-Type.
func ContentType(contentType string) Action {
	return Action{func(f *fate) { f.contentType = contentType }}
}

// SlowBody sends the body at this many bytes per second, in ten pieces a second.
func SlowBody(bytesPerSecond int) Action {
	return Action{func(f *fate) { f.bytesPerSecond = max(bytesPerSecond, 10) }}
}

// CutBody closes the connection after n bytes of the body.
func CutBody(n int) Action {
	return Action{func(f *fate) { f.cut, f.cutAfter = true, n }}
}

// BrokenObject makes one object unreadable, that of the n-th item of a list or of
// the n-th event of a watch, counted from 1. Its name and resourceVersion are
// intact, and so is all around it.
func BrokenObject(n int) Action {
	return Action{func(f *fate) { f.broken = n }}
}

// DropAfterEvents closes the connection of a watch after n events. In all actions,
// bookmarks don't count as events.
func DropAfterEvents(n int) Action {
	return interruption(interrupt{after: n, between: func(*watcher) { panic(http.ErrAbortHandler) }})
}

// EndAfterEvents ends a watch in an orderly way after n events.
func EndAfterEvents(n int) Action {
	return interruption(interrupt{after: n, between: func(*watcher) {}})
}

// FailAfterEvents ends a watch after n events with an ERROR event, which carries
// the Status of an error as with [Fail].
func FailAfterEvents(n int, err error) Action {
	return interruption(interrupt{after: n, between: func(w *watcher) { w.fail(err) }})
}

// SilentAfterEvents lets a watch say nothing more after n events, not even a
// bookmark, and not end when its time is up: so does a connection that a firewall
// has forgotten.
func SilentAfterEvents(n int) Action {
	return interruption(interrupt{after: n, between: (*watcher).wait})
}

// CutFrame closes the connection in the middle of the event that follows n
// events.
func CutFrame(n int) Action {
	return interruption(interrupt{after: n, frame: func(w *watcher, event []byte) {
		w.buf = append(w.buf, event[:len(event)/2]...)
		w.flush()
		panic(http.ErrAbortHandler)
	}})
}

// HugeFrame makes the event that follows n events one of size bytes, which may be
// more than anyone wants to hold. As much of it is sent as the client takes, then
// the connection is closed.
func HugeFrame(n int, size int64) Action {
	return interruption(interrupt{after: n, frame: func(w *watcher, _ []byte) {
		w.huge(size)
		panic(http.ErrAbortHandler)
	}})
}

// SilentWatch accepts a watch and never says anything: see [SilentAfterEvents].
func SilentWatch() Action { return SilentAfterEvents(0) }

// DuplicateEvents sends every event twice.
func DuplicateEvents() Action {
	return Action{func(f *fate) { f.duplicate = true }}
}

// DelayBookmarks sends every bookmark later, the one that ends the initial events
// as well. Events go on meanwhile.
func DelayBookmarks(d time.Duration) Action {
	return Action{func(f *fate) { f.bookmarkDelay = d }}
}

// NoEndMarker leaves out the bookmark that ends the initial events.
func NoEndMarker() Action {
	return Action{func(f *fate) { f.noEndMarker = true }}
}

// answer is an action that takes the place of the real answer.
func answer(write func(*response)) Action {
	return Action{func(f *fate) { f.answer = write }}
}

func interruption(i interrupt) Action {
	return Action{func(f *fate) { f.interrupts = append(f.interrupts, i) }}
}

// wholeSeconds rounds up, as seconds in headers are whole.
func wholeSeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
