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

var errPassedToReflector = errors.New("the objects of this list have been handed over to a reflector")

// peekSize is the number of bytes at the beginning of a list that certainly have all fields before
// the items.
const peekSize = 16 << 10

// listResponse is a response to a reflector's list whose body has not been read yet. The method
// Into of the Result decodes the objects as they arrive and passes them to the reflector. Every
// other method of Result reads the whole body first. The reflector cancels the context when its
// list function returns. This closes a response whose body has not been read yet.
type listResponse struct {
	ctx         context.Context
	request     *Request
	sentRequest *http.Request
	response    *http.Response
	end         func() // releases the timer of the request's timeout
	to          *sink.Sink

	mu     sync.Mutex // guards following
	result Result     // set once the whole body has been read
	read   bool
	body   *bufio.Reader // the response body, set by peekLocked
}

// canStream reports whether the body of a response need not be read before Into.
func (r *Request) canStream(resp *http.Response) bool {
	return r.verb == http.MethodGet && resp.StatusCode == http.StatusOK && resp.Body != nil && r.name == ""
}

// readAll reads the rest of the response and returns the Result that Do would have returned. Later
// calls return the same Result.
func (a *listResponse) readAll() Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.readAllLocked()
}

func (a *listResponse) readAllLocked() Result {
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
		a.result = Result{err: readError(err)}
		return a.result
	}
	a.request.logBody(a.ctx, "Response Body", body)
	a.result = a.request.interpret(a.response, a.sentRequest, body)
	metrics.ResponseSize.Observe(a.ctx, a.request.verb, hostOf(a.request), float64(len(body)))
	return a.result
}

// get is like the method into, for a list whose type the program's codec chooses.
func (a *listResponse) get(decoder runtime.Decoder) (runtime.Object, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.read {
		return a.readAllLocked().Get()
	}
	if c, ok := codecOf(decoder); ok {
		if empty, late, ok := withoutItems(a.peekLocked(), c.encoding); ok && !late {
			if list, _, err := decoder.Decode(empty, nil, nil); err == nil {
				list = reflect.New(reflect.TypeOf(list).Elem()).Interface().(runtime.Object)
				return list, a.intoLocked(decoder, list)
			}
		}
	}
	return a.readAllLocked().Get()
}

// peekLocked returns the first peekSize bytes of the body, or the whole body if it is shorter.
func (a *listResponse) peekLocked() []byte {
	if a.body == nil {
		a.body = bufio.NewReaderSize(a.response.Body, peekSize)
	}
	start, _ := a.body.Peek(peekSize) // on an error, the next read returns the same error
	return start
}

// into passes the objects to the reflector and leaves the list without items. If the list cannot be
// decoded in this way, the method decodes it into list as usual.
func (a *listResponse) into(decoder runtime.Decoder, list runtime.Object) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.intoLocked(decoder, list)
}

func (a *listResponse) intoLocked(decoder runtime.Decoder, list runtime.Object) error {
	if a.read || list == nil {
		return a.readAllLocked().Into(list)
	}
	l := newListDecoder(a.peekLocked(), decoder, list, a.request.c.sharing, a.to.Use)
	if l == nil || !a.to.Begin(list) {
		return a.readAllLocked().Into(list)
	}
	a.read = true
	a.result = Result{err: errPassedToReflector}
	defer a.end()
	response := *a.response
	response.Body = struct {
		io.Reader
		io.Closer
	}{a.body, a.response.Body}
	size, err := l.read(a.ctx, &response, a.to.Options, sinkConsumer{a.to})
	metrics.ResponseSize.Observe(a.ctx, a.request.verb, hostOf(a.request), float64(size))
	if err == nil {
		a.to.End()
	}
	return err
}

// sinkConsumer is an itemConsumer that passes every object to a reflector.
type sinkConsumer struct{ to *sink.Sink }

func (h sinkConsumer) consume(item listwatch.Item[any]) error { h.to.Add(item); return nil }
func (h sinkConsumer) consumeUndecodable(undecodable *listwatch.ObjectError) error {
	h.to.AddUndecodable(undecodable)
	return nil
}
