package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// onSendServer records the Traceparent header of each request. It first responds with 429 for a
// number of times, and then with a pod.
type onSendServer struct {
	pod             []byte
	tooManyRequests int // number of responses with 429

	mu       sync.Mutex // guards following
	received []string
}

func (s *onSendServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.received = append(s.received, r.Header.Get("Traceparent"))
	busy := len(s.received) <= s.tooManyRequests
	s.mu.Unlock()
	if busy {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", mediaTypeJSON)
	_, _ = w.Write(s.pod)
}

type callerKey struct{}

func keyOfPod(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
}

// OnSend is called once for each request, including retries, before the request is sent, with the
// context of the caller. The returned function is called with the response, after OnResponse, in
// the same goroutine.
func TestOnSendIsCalledForEachRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pod := plainPod(1)
		server := &onSendServer{pod: encode(t, JSON, "Pod", &pod), tooManyRequests: 2}
		var told []string // written by one goroutine only; the race detector checks this
		n := 0
		client, stop := serveMemory(t, server, Options{Observer: &Observer{
			OnSend: func(ctx context.Context, about RequestInfo, setHeader func(name, value string)) func(ResponseInfo) {
				n++
				attempt := n
				server.mu.Lock()
				told = append(told, fmt.Sprintf("send %d by %v: %s %s, after %d", attempt, ctx.Value(callerKey{}), about.Verb, about.Resource.Resource, len(server.received)))
				server.mu.Unlock()
				setHeader("Traceparent", fmt.Sprint("attempt ", attempt))
				if attempt == 2 {
					return nil // no function for the response
				}
				return func(a ResponseInfo) {
					told = append(told, fmt.Sprintf("response %d: %d %v, %s", attempt, a.StatusCode, a.Err, a.Verb))
				}
			},
			OnResponse: func(a ResponseInfo) { told = append(told, fmt.Sprint("all get ", a.StatusCode)) },
			OnRetry:    func(r RetryInfo) { told = append(told, "retry") },
		}})
		defer stop()
		ctx := context.WithValue(t.Context(), callerKey{}, "me")
		_, err := pods(client).Get(ctx, keyOfPod(&pod), metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, []string{
			"send 1 by me: get pods, after 0", "all get 429", "response 1: 429 <nil>, get", "retry",
			"send 2 by me: get pods, after 1", "all get 429", "retry",
			"send 3 by me: get pods, after 2", "all get 200", "response 3: 200 <nil>, get",
		}, told)
		require.Equal(t, []string{"attempt 1", "attempt 2", "attempt 3"}, server.received)
	})
}

// The returned function is also called if a request gets no response. It is not called if the
// request is never sent.
func TestOnSendIsCalledWithoutAResponse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		limit   func(context.Context) error
		sent    int
	}{
		"lost connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, 1},
		"late": {func(_ http.ResponseWriter, r *http.Request) {
			// otherwise the server does not notice the end of the connection
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, nil, 1},
		"limited": {func(http.ResponseWriter, *http.Request) {}, func(context.Context) error { return io.ErrClosedPipe }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				sent, answered := 0, 0
				client, stop := serveMemory(t, test.handler, Options{MaxRetries: -1, Limit: test.limit, Observer: &Observer{
					OnSend: func(context.Context, RequestInfo, func(name, value string)) func(ResponseInfo) {
						sent++
						return func(a ResponseInfo) {
							answered++
							require.Error(t, a.Err)
							require.Zero(t, a.StatusCode)
						}
					},
				}})
				defer stop()
				_, err := pods(client).Create(t.Context(), &plainPods(1)[0], metav1.CreateOptions{})
				require.Error(t, err)
				require.Equal(t, test.sent, sent)
				require.Equal(t, test.sent, answered)
			})
		})
	}
}

// The time of a slow hook is not part of the request: ResponseInfo.Latency and the header timeout
// do not include it.
func TestSlowOnSendDelaysTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pod := plainPod(1)
		var waited time.Duration
		client, stop := serveMemory(t, &onSendServer{pod: encode(t, JSON, "Pod", &pod)}, Options{Observer: &Observer{
			OnSend: func(context.Context, RequestInfo, func(name, value string)) func(ResponseInfo) {
				time.Sleep(time.Hour)
				return func(a ResponseInfo) { waited = a.Latency }
			},
		}})
		defer stop()
		begun := time.Now()
		_, err := pods(client).Get(t.Context(), keyOfPod(&pod), metav1.GetOptions{})
		require.NoError(t, err)
		require.Equal(t, time.Hour, time.Since(begun))
		require.Zero(t, waited)
	})
}

// If a hook panics, the panic reaches the caller. The client still works, and no goroutine keeps
// waiting for the end of the context.
func TestPanicInOnSendLeaksNothing(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	var quiet atomic.Bool
	client := serve(t, &onSendServer{pod: encode(t, JSON, "Pod", &pod)}, Options{Observer: &Observer{
		OnSend: func(context.Context, RequestInfo, func(name, value string)) func(ResponseInfo) {
			if !quiet.Load() {
				panic("a bug")
			}
			return nil
		},
	}})
	key := keyOfPod(&pod)
	parent := &countingContext{Context: t.Context(), done: make(chan struct{})}
	for range 3 {
		require.PanicsWithValue(t, "a bug", func() { _, _ = pods(client).Get(parent, key, metav1.GetOptions{}) })
	}
	require.Zero(t, parent.waiting.Load(), "all contexts derived from the caller's context must have ended")
	quiet.Store(true)
	_, err := pods(client).Get(t.Context(), key, metav1.GetOptions{})
	require.NoError(t, err)
}

// countingContext is a context that counts the functions registered for its end. context.AfterFunc
// and derived contexts register them.
type countingContext struct {
	context.Context
	done    chan struct{} // not the channel of Context, so that package context calls AfterFunc
	waiting atomic.Int64
}

func (c *countingContext) Done() <-chan struct{} { return c.done }

// AfterFunc implements the interface with which package context registers functions at a context of
// another type.
func (c *countingContext) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	end := context.AfterFunc(c.Context, f)
	return sync.OnceValue(func() bool { c.waiting.Add(-1); return end() })
}

// Each request gets its own response, even if many requests and streams are open at once.
func TestOnSendOfConcurrentRequests(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	one, list := encode(t, JSON, "Pod", &pod), podList(t, JSON, "1")
	var open atomic.Int64
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaTypeJSON)
		if r.URL.Path == "/api/v1/pods" {
			_, _ = w.Write(list)
			return
		}
		_, _ = w.Write(one)
	}), Options{Observer: &Observer{
		OnSend: func(ctx context.Context, about RequestInfo, _ func(name, value string)) func(ResponseInfo) {
			open.Add(1)
			who := ctx.Value(callerKey{}).(*string)
			*who += "sent " + about.Verb
			return func(a ResponseInfo) {
				open.Add(-1)
				*who += ", answered " + a.Verb
			}
		},
	}})
	var all sync.WaitGroup
	for n := range 30 {
		all.Go(func() {
			var who string
			ctx := context.WithValue(t.Context(), callerKey{}, &who)
			if n%3 == 0 {
				stream, err := pods(client).List(ctx, listwatch.ListOptions{})
				if err == nil {
					_ = stream.Close()
				}
				if who != "sent list, answered list" {
					t.Error(who)
				}
				return
			}
			_, _ = pods(client).Get(ctx, keyOfPod(&pod), metav1.GetOptions{})
			if who != "sent get, answered get" {
				t.Error(who)
			}
		})
	}
	all.Wait()
	require.Zero(t, open.Load())
}
