package apitest

import (
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/wire"
)

// Action is the effect of a [Fault]. Make an Action with the functions below. The zero value has no
// effect, and [Server.Inject] panics on it.
type Action struct{ apply func(*effects) }

// Fail responds with the Status of err, which may be an error of package
// k8s.io/apimachinery/pkg/api/errors. Any other error gets code 500. If the Status has a retry
// delay in seconds, the response also has the header Retry-After.
func Fail(err error) Action {
	return replaceResponse(func(r *response) { wire.WriteStatus(r, r.req.HTTP, wire.StatusOf(err)) })
}

// Code responds with a bare Status of this code. A retryAfter above 0 is sent too, rounded up to
// whole seconds.
func Code(code int, retryAfter time.Duration) Action {
	err := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", http.StatusText(code), wholeSeconds(retryAfter), false)
	return Fail(err)
}

// Expired responds with 410: a list or a watch from this resourceVersion is no longer possible.
func Expired() Action {
	return Fail(apierrors.NewResourceExpired("too old resource version"))
}

// TooManyRequests responds with 429, like priority and fairness of a real server. Retry-After is
// rounded up to whole seconds, and at least one. The body is plain text, not a Status.
func TooManyRequests(retryAfter time.Duration) Action {
	return replaceResponse(func(r *response) {
		r.Header().Set("Retry-After", strconv.Itoa(max(wholeSeconds(retryAfter), 1)))
		http.Error(r, "Too many requests, please try again later.", http.StatusTooManyRequests)
	})
}

// Body responds with a given body.
func Body(code int, contentType, body string) Action {
	return replaceResponse(func(r *response) { r.raw(code, contentType, body) })
}

// HTML responds with 200 and an HTML page, like a captive portal or the login page of a proxy.
func HTML() Action {
	return Body(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><body><h1>Sign in</h1></body></html>\n")
}

// Empty responds with 200 and the right Content-Type, but without a body.
func Empty() Action {
	return replaceResponse(func(r *response) { r.raw(http.StatusOK, r.contentType(), "") })
}

// Garbage responds with 200, the right Content-Type, and a body that is neither JSON nor protobuf.
func Garbage() Action {
	return replaceResponse(func(r *response) { r.raw(http.StatusOK, r.contentType(), "\x00\xff\xfe garbage \x80\x81\n") })
}

// Table responds with a meta.k8s.io/v1 Table that the client did not request. A watch gets the
// Table as an event.
func Table() Action {
	table := `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"columnDefinitions":[],"rows":[]}`
	return replaceResponse(func(r *response) {
		if r.req.Verb == "watch" {
			r.raw(http.StatusOK, wire.JSONType, `{"type":"ADDED","object":`+table+"}\n")
			return
		}
		r.raw(http.StatusOK, wire.JSONType, table+"\n")
	})
}

// Drop closes the connection without a response.
func Drop() Action {
	return replaceResponse(func(*response) { panic(http.ErrAbortHandler) })
}

// Delay delays the response by d. The wait ends when the client gives up.
func Delay(d time.Duration) Action {
	return Action{func(f *effects) { f.delay = d }}
}

// ContentType replaces the Content-Type of the normal response.
func ContentType(contentType string) Action {
	return Action{func(f *effects) { f.contentType = contentType }}
}

// SlowBody sends the body at this many bytes per second, in ten pieces a second.
func SlowBody(bytesPerSecond int) Action {
	return Action{func(f *effects) { f.bytesPerSecond = max(bytesPerSecond, 10) }}
}

// CutBody closes the connection after n bytes of the body.
func CutBody(n int) Action {
	return Action{func(f *effects) { f.cut, f.cutAfter = true, n }}
}

// UndecodableObject makes one object undecodable: the n-th item of a list, or the object of the
// n-th event of a watch, counted from 1. The object's name and resourceVersion stay intact, and so
// do all other objects.
func UndecodableObject(n int) Action {
	return Action{func(f *effects) { f.undecodable = n }}
}

// DropAfterEvents closes the connection of a watch after n events. Bookmarks do not count as
// events, in this and all other actions.
func DropAfterEvents(n int) Action {
	return interruption(interrupt{after: n, afterLast: func(*watcher) { panic(http.ErrAbortHandler) }})
}

// EndAfterEvents ends a watch normally after n events.
func EndAfterEvents(n int) Action {
	return interruption(interrupt{after: n, afterLast: func(*watcher) {}})
}

// FailAfterEvents ends a watch after n events with an ERROR event. The event carries the Status of
// err, as [Fail] describes.
func FailAfterEvents(n int, err error) Action {
	return interruption(interrupt{after: n, afterLast: func(w *watcher) { w.fail(err) }})
}

// SilentAfterEvents sends nothing more on a watch after n events, not even a bookmark. The watch
// does not end at its timeout either. It behaves like a connection that a firewall has dropped
// silently.
func SilentAfterEvents(n int) Action {
	return interruption(interrupt{after: n, afterLast: (*watcher).wait})
}

// CutFrame closes the connection of a watch after n events, in the middle of the next event.
func CutFrame(n int) Action {
	return interruption(interrupt{after: n, atNext: func(w *watcher, event []byte) {
		w.buf = append(w.buf, event[:len(event)/2]...)
		w.flush()
		panic(http.ErrAbortHandler)
	}})
}

// HugeFrame makes the event that follows n events of a watch very large. The event has size bytes,
// which may be more than a client's memory. The server sends bytes as long as the client reads
// them, and then closes the connection.
func HugeFrame(n int, size int64) Action {
	return interruption(interrupt{after: n, atNext: func(w *watcher, _ []byte) {
		w.sendHuge(size)
		panic(http.ErrAbortHandler)
	}})
}

// SilentWatch accepts a watch and never sends anything: see [SilentAfterEvents].
func SilentWatch() Action { return SilentAfterEvents(0) }

// DuplicateEvents sends every event of a watch twice.
func DuplicateEvents() Action {
	return Action{func(f *effects) { f.duplicate = true }}
}

// DelayBookmarks sends every bookmark late by d, including the bookmark that ends the initial
// events. Other events are not delayed.
func DelayBookmarks(d time.Duration) Action {
	return Action{func(f *effects) { f.bookmarkDelay = d }}
}

// NoEndMarker leaves out the bookmark that ends the initial events.
func NoEndMarker() Action {
	return Action{func(f *effects) { f.noEndMarker = true }}
}

// replaceResponse is an action that replaces the normal response.
func replaceResponse(write func(*response)) Action {
	return Action{func(f *effects) { f.respond = write }}
}

func interruption(i interrupt) Action {
	return Action{func(f *effects) { f.interrupts = append(f.interrupts, i) }}
}

// wholeSeconds rounds d up to seconds, the unit of the header Retry-After.
func wholeSeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
