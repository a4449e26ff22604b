package plain_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/plain"
)

// An invalid response of a server is an error of the list or of the watch. It never ends the
// program.
func TestInvalidResponsesAreErrors(t *testing.T) {
	const watch = `{"metadata":{"resourceVersion":"1"}}`
	for name, response := range map[string]struct {
		list, watch, want string
	}{
		"a list with null":         {`{"metadata":{"resourceVersion":"1"},"items":[null]}`, "", "an item is null"},
		"a list that is HTML":      {`<html>`, "", "invalid character"},
		"a list that breaks off":   {`{"items":[{"metadata":`, "", "unexpected EOF"},
		"an event with null":       {watch, `{"type":"ADDED","object":null}`, `event of type "ADDED" is null`},
		"an event without object":  {watch, `{"type":"ADDED"}`, "unexpected end of JSON input"},
		"an event of no type":      {watch, `{"type":"","object":{}}`, `an event of type ""`},
		"a failure without reason": {watch, `{"type":"ERROR","object":"x"}`, "cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body := response.list
				if r.URL.Query().Has("watch") {
					body = response.watch
				}
				_, _ = io.WriteString(w, body)
			}))
			defer server.Close()
			failed := make(chan error, 100)
			inf := plain.NewInformer(&plain.Client[*corev1.Pod]{HTTP: server.Client(), URL: server.URL}, plain.Options[*corev1.Pod]{
				OnError: func(err error) {
					select {
					case failed <- err:
					default:
					}
				},
			})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = inf.Run(ctx) })
			require.ErrorContains(t, <-failed, response.want)
			cancel()
			running.Wait()
		})
	}
}
