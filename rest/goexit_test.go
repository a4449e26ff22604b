package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
)

// goexitObject has a user's method that calls runtime.Goexit.
type goexitObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Step              step `json:"step"`
}

type step int

func (s *step) UnmarshalJSON(data []byte) error {
	if string(data) == "13" {
		runtime.Goexit()
	}
	return json.Unmarshal(data, (*int)(s))
}

// G10: if a user's method ends the goroutine of a decoder, the stream ends with an error. Next
// returns the earlier objects first, and neither the reader nor Close blocks.
func TestGoexitInDecoderEndsTheStream(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40, 3000} {
		for _, bad := range []int{0, n / 2, n - 1} {
			t.Run(fmt.Sprintf("%d of %d", bad, n), func(t *testing.T) {
				t.Parallel()
				object := func(i int) string {
					step := 1
					if i == bad {
						step = 13
					}
					return fmt.Sprintf(`{"kind":"Sized","apiVersion":"example.org/v1","metadata":{"name":"o%d","resourceVersion":"%d"},"step":%d}`, i, i+1, step)
				}
				var list, watch []string
				for i := range n {
					list = append(list, object(i))
					watch = append(watch, `{"type":"ADDED","object":`+object(i)+"}\n")
				}
				client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					if r.URL.Query().Has("watch") {
						_, _ = io.WriteString(w, strings.Join(watch, ""))
						w.(http.Flusher).Flush()
						<-r.Context().Done() // keeps the connection open, like a watch
						return
					}
					_, _ = io.WriteString(w, `{"kind":"SizedList","apiVersion":"example.org/v1","metadata":{"resourceVersion":"1"},"items":[`+strings.Join(list, ",")+"]}")
				}), Options{})
				resource := Must(NewJSONResource[*goexitObject](client, sizedGVR, ResourceOptions{}))

				lists, err := resource.List(t.Context(), listwatch.ListOptions{})
				require.NoError(t, err)
				items := 0
				for err = nil; err == nil; items++ {
					_, err = lists.Next()
				}
				require.ErrorIs(t, err, errGoexit)
				require.Equal(t, bad, items-1)
				require.NoError(t, lists.Close())

				watches, err := resource.Watch(t.Context(), listwatch.WatchOptions{ResourceVersion: "1"})
				require.NoError(t, err)
				events := 0
				for err = nil; err == nil; events++ {
					_, err = watches.Next()
				}
				require.ErrorIs(t, err, errGoexit)
				require.False(t, errors.Is(err, io.EOF))
				require.Equal(t, bad, events-1)
				require.NoError(t, watches.Close())
			})
		}
	}
}

// goexitReader is a body with this many events, one in each read. After these events, Read calls
// runtime.Goexit, as a user's connection might.
type goexitReader struct {
	events int
	event  []byte
}

func (e *goexitReader) Read(p []byte) (int, error) {
	if e.events--; e.events < 0 {
		runtime.Goexit()
	}
	return copy(p, e.event), nil
}

// A goroutine that ends by a panic or by Goexit does not wait for the consumer. Otherwise the
// process would report the panic only after a call of Next.
func TestEndedReaderDoesNotWaitForConsumer(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	full := 2 * min(runtime.GOMAXPROCS(0), maxWorkers)
	stream := pods(&Client{}).readWatch(offline(t.Context(), &goexitReader{events: full, event: event(t, JSON, "ADDED", "Pod", &pod)}), JSON, nil, nil)
	ended := make(chan struct{})
	go func() {
		stream.pipeline.group.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		require.Fail(t, "the ended reader must not wait for the consumer")
	}
	events, _, err := drainWatch(stream)
	require.ErrorIs(t, err, errGoexit)
	require.Len(t, events, full)
	require.NoError(t, stream.Close())
}
