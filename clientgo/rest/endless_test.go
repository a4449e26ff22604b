package rest_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kinform/kinform/listwatch"

	"k8s.io/client-go/internal/sink"
	"k8s.io/client-go/rest"
)

// endless is a body that begins with some text and does not end.
type endless struct {
	start  io.Reader
	read   atomic.Int64
	closed atomic.Bool
}

func (e *endless) Read(p []byte) (int, error) {
	if e.closed.Load() {
		return 0, io.ErrClosedPipe
	}
	n, _ := e.start.Read(p)
	if n == 0 {
		for n = range p {
			p[n] = 'x'
		}
		n = len(p)
	}
	e.read.Add(int64(n))
	return n, nil
}

func (e *endless) Close() error {
	e.closed.Store(true)
	return nil
}

type endlessServer struct{ body *endless }

func (s endlessServer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {runtime.ContentTypeJSON}}, Body: s.body, Request: r}, nil
}

// The budget of an event counts from its first byte, whoever decodes it.
func TestAnEventThatNeverEndsIsAnError(t *testing.T) {
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
			open := func() (*endless, watch.Interface) {
				body := &endless{start: strings.NewReader(start)}
				config := configOf("http://odd.example", runtime.ContentTypeJSON)
				config.Transport = endlessServer{body}
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
