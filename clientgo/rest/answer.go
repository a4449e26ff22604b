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

// startSize is how many bytes of a list are enough to see what is in front of its items.
const startSize = 16 << 10

// answer is the answer to a list for a reflector, of which Do has read nothing: Into hands over its objects while they arrive. Every
// other method of a Result reads it whole first. The reflector ends the context when its list function has returned, and that closes
// an answer that nobody has read.
type answer struct {
	ctx      context.Context
	request  *Request
	sent     *http.Request
	response *http.Response
	end      func() // of the timeout
	to       *sink.Sink

	mu     sync.Mutex // guards following
	result Result     // once it has been read whole
	read   bool
	body   *bufio.Reader // of the response, once its start has been looked at
}

// streams reports whether an answer can be left open for Into.
func (r *Request) streams(resp *http.Response) bool {
	return r.verb == http.MethodGet && resp.StatusCode == http.StatusOK && resp.Body != nil && r.name == ""
}

// whole reads what is left of the answer, and returns it as Do would have. A second call returns the same.
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

// get is into for a list of the type that the program's codec gives it.
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

// startLocked is the beginning of the body, or all of a short one.
func (a *answer) startLocked() []byte {
	if a.body == nil {
		a.body = bufio.NewReaderSize(a.response.Body, startSize)
	}
	start, _ := a.body.Peek(startSize) // an error comes again
	return start
}

// into hands the objects over, and leaves the list without items; or it fills the list as ever.
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

// handOver is a taker that gives all to a reflector.
type handOver struct{ to *sink.Sink }

func (h handOver) take(item listwatch.Item[any]) error      { h.to.Add(item); return nil }
func (h handOver) skip(unread *listwatch.ObjectError) error { h.to.Skip(unread); return nil }
