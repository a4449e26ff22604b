package rest_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/listwatch"
	kinform "github.com/kinform/kinform/rest"

	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/rest"
)

// endlessBody is a body that begins with start and never ends.
type endlessBody struct {
	start  io.Reader
	read   atomic.Int64
	closed atomic.Bool
}

func (e *endlessBody) Read(p []byte) (int, error) {
	if e.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	n, _ := e.start.Read(p)
	if n == 0 {
		n = copy(p, manyBytes)
	}
	e.read.Add(int64(n))
	return n, nil
}

func (e *endlessBody) Close() error {
	e.closed.Store(true)
	return nil
}

var manyBytes = strings.Repeat("x", 64<<10)

type endlessServer struct {
	code int
	body *endlessBody
}

func (s endlessServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.code, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: s.body, Request: r}, nil
}

// The limit for an event counts from the event's first byte, whichever decoder reads the event.
func TestAnEndlessEventIsAnError(t *testing.T) {
	const budget = 16 << 20
	for name, start := range map[string]string{
		"before its kind":    `{"type":"ADDED","object":{"metadata":{"name":"`,
		"an unknown field":   `{"other":"`,
		"its type":           `{"type":"`,
		"its kind":           `{"type":"ADDED","object":{"kind":"`,
		"an error":           `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","message":"`,
		"a bookmark":         `{"type":"BOOKMARK","object":{"metadata":{"annotations":{"a":"`,
		"the name of a kind": `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"`,
	} {
		t.Run(name, func(t *testing.T) {
			open := func() (*endlessBody, watch.Interface) {
				body := &endlessBody{start: strings.NewReader(start)}
				config := configOf("http://odd.example", runtime.ContentTypeJSON)
				config.Transport = endlessServer{http.StatusOK, body}
				client, err := rest.RESTClientFor(config)
				require.NoError(t, err)
				w, err := client.Get().Resource("pods").Watch(t.Context())
				require.NoError(t, err)
				return body, w
			}
			body, w := open()
			stream := w.(sink.Puller).Pull(listwatch.WatchOptions{}, sink.Cached)
			_, err := stream.Next()
			if err == sink.ErrPush { //nolint:errorlint // it is never wrapped
				event := <-w.ResultChan()
				require.Equal(t, watch.Error, event.Type)
			} else {
				require.Error(t, err)
			}
			require.NoError(t, stream.Close())
			require.Less(t, body.read.Load(), int64(budget+1<<20))

			body, w = open()
			event := <-w.ResultChan()
			require.Equal(t, watch.Error, event.Type)
			w.Stop()
			require.Less(t, body.read.Load(), int64(budget+1<<20))
		})
	}
}

// An error response is read up to maxErrorBody bytes. If its Status never ends, the status code
// determines the error.
func TestAnEndlessErrorResponseIsCutOff(t *testing.T) {
	const budget = 16 << 20
	for name, send := range map[string]func(*rest.Request) error{
		"do":     func(r *rest.Request) error { return r.Do(t.Context()).Error() },
		"into":   func(r *rest.Request) error { return r.Do(t.Context()).Into(&corev1.PodList{}) },
		"doraw":  func(r *rest.Request) error { _, err := r.DoRaw(t.Context()); return err },
		"stream": func(r *rest.Request) error { _, err := r.Stream(t.Context()); return err },
		"watch":  func(r *rest.Request) error { _, err := r.Watch(t.Context()); return err },
		"a list of a reflector": func(r *rest.Request) error {
			return r.Do(sink.With(t.Context(), &sink.Sink{})).Into(&corev1.PodList{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endlessBody{start: strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"`)}
			config := configOf("http://odd.example", runtime.ContentTypeJSON)
			config.Transport = endlessServer{http.StatusForbidden, body}
			client, err := rest.RESTClientFor(config)
			require.NoError(t, err)
			require.True(t, apierrors.IsForbidden(send(client.Get().Resource("pods"))))
			require.Less(t, body.read.Load(), int64(budget+1<<20))
			require.True(t, body.closed.Load())
		})
	}
}

// In a list for a reflector, the size of each field other than the items is limited, counted from
// the field's first byte. An item that is too large is skipped, as TestSkippedBytesAreNotRetained
// of kinform's package rest shows.
func TestAnEndlessListFieldIsAnError(t *testing.T) {
	const budget = 1 << 20
	for name, field := range map[string]string{"a field": `"more":"`, "metadata": `"metadata":{"a":"`, "its name": `"`} {
		t.Run(name, func(t *testing.T) {
			start := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[],` + field
			body := &endlessBody{start: strings.NewReader(start)}
			config := configOf("http://odd.example", runtime.ContentTypeJSON)
			config.Transport = endlessServer{http.StatusOK, body}
			client, err := rest.RESTClientFor(config)
			require.NoError(t, err)
			err = client.Get().Resource("pods").Do(sink.With(t.Context(), &sink.Sink{})).Into(&corev1.PodList{})
			require.ErrorIs(t, err, kinform.ErrTooLarge)
			require.Less(t, body.read.Load(), int64(budget+8<<20)) // with bytes read ahead
		})
	}
}
