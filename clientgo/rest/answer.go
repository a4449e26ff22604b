package rest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/tools/metrics"

	"github.com/kinform/kinform/listwatch"
)

var errHandedOver = errors.New("the objects of this list have been handed over to a reflector")

// startSize is the number of bytes at the beginning of a list that certainly have all fields before
// the items.
const startSize = 16 << 10

// answer is a response to a reflector's list whose body is still unread. The method Into of the
// Result decodes the objects as they arrive and passes them to the reflector. Every other method of
// Result reads the whole body first. The reflector cancels the context when its list function
// returns. This closes a response that is still unread.
type answer struct {
	ctx      context.Context
	request  *Request
	sent     *http.Request
	response *http.Response
	end      func() // releases the timer of the request's timeout
	to       *sink.Sink

	mu     sync.Mutex // guards following
	result Result     // set once the body has been read whole
	read   bool
	body   *bufio.Reader // the response body, set by startLocked
}

// streams reports whether the body of a response may stay unread until Into.
func (r *Request) streams(resp *http.Response) bool {
	return r.verb == http.MethodGet && resp.StatusCode == http.StatusOK && resp.Body != nil && r.name == ""
}

// whole reads the rest of the response and returns the Result that Do would have returned. Later
// calls return the same Result.
func (a *answer) whole() Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wholeLocked()
}

func (a *answer) wholeLocked() Result {
	if a.read {
		return a.result
	}
	a.read = true
	defer a.end()
	defer drain(a.response)
	var from io.Reader = a.response.Body
	if a.body != nil {
		from = a.body
	}
	body, err := io.ReadAll(from)
	if err != nil {
		a.result = Result{err: unreadable(err)}
		return a.result
	}
	a.request.logBody(a.ctx, "Response Body", body)
	a.result = a.request.interpret(a.response, a.sent, body)
	metrics.ResponseSize.Observe(a.ctx, a.request.verb, hostOf(a.request), float64(len(body)))
	return a.result
}

// get is like the method into, for a list whose type the program's codec chooses.
func (a *answer) get(decoder runtime.Decoder) (runtime.Object, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return a.wholeLocked().Get()
	}
	if c, ok := codecOf(decoder); ok {
		if empty, late, ok := emptied(a.startLocked(), c.encoding); ok && !late {
			if list, _, err := decoder.Decode(empty, nil, nil); err == nil {
				list = reflect.New(reflect.TypeOf(list).Elem()).Interface().(runtime.Object)
				return list, a.intoLocked(decoder, list)
			}
		}
	}
	return a.wholeLocked().Get()
}

// startLocked returns the first startSize bytes of the body, or the whole body if it is shorter.
func (a *answer) startLocked() []byte {
	if a.body == nil {
		a.body = bufio.NewReaderSize(a.response.Body, startSize)
	}
	start, _ := a.body.Peek(startSize) // on an error, the next read returns the same error
	return start
}

// into passes the objects to the reflector and leaves the list without items. If the list cannot be
// decoded in this way, the method decodes it into list as usual.
func (a *answer) into(decoder runtime.Decoder, list runtime.Object) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.intoLocked(decoder, list)
}

func (a *answer) intoLocked(decoder runtime.Decoder, list runtime.Object) error {
	if a.read || list == nil {
		return a.wholeLocked().Into(list)
	}
	l := newListing(a.startLocked(), decoder, list, a.request.c.sharing, a.to.Use)
	if l == nil || !a.to.Begin(list) {
		return a.wholeLocked().Into(list)
	}
	a.read = true
	a.result = Result{err: errHandedOver}
	defer a.end()
	response := *a.response
	response.Body = struct {
		io.Reader
		io.Closer
	}{a.body, a.response.Body}
	size, err := l.read(a.ctx, &response, a.to.Options, handOver{a.to})
	metrics.ResponseSize.Observe(a.ctx, a.request.verb, hostOf(a.request), float64(size))
	if err == nil {
		a.to.End()
	}
	return err
}

// handOver is a taker that passes every object to a reflector.
type handOver struct{ to *sink.Sink }

func (h handOver) take(item listwatch.Item[any]) error      { h.to.Add(item); return nil }
func (h handOver) skip(unread *listwatch.ObjectError) error { h.to.Skip(unread); return nil }
