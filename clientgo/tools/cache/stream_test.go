package cache_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/apitest"
)

// callCounter counts the calls of a handler, by object and kind of call.
type callCounter struct {
	mu    sync.Mutex
	calls map[string]int
}

func (s *callCounter) count(what string, obj any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		key = err.Error()
	}
	s.calls[what+" "+key]++
}

func (s *callCounter) of(what, key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[what+" "+key]
}

func (s *callCounter) OnAdd(obj any, _ bool) { s.count("add", obj) }
func (s *callCounter) OnUpdate(old, now any) {
	if old != now {
		s.count("update", now)
	}
}
func (s *callCounter) OnDelete(obj any) { s.count("delete", obj) }

// An informer that takes objects while lists are decoded reaches the server's state under any fault
// of lists and watches. No change is lost or repeated, and no deleted object remains.
func TestListsPassedToTheReflectorSurviveFaults(t *testing.T) {
	list, watches := "list", "watch"
	for name, faults := range map[string][]apitest.Fault{
		"none":                   nil,
		"cut":                    {{Verb: list, Action: apitest.CutBody(20_000), Times: 1}},
		"an unreadable object":   {{Verb: list, Action: apitest.UndecodableObject(7), Times: 1}},
		"an unreadable event":    {{Verb: watches, Action: apitest.UndecodableObject(1), Times: 1}},
		"410 for the list":       {{Verb: list, Action: apitest.Expired(), Times: 1}},
		"410 within pages":       {{Verb: list, Action: apitest.Expired(), Skip: 1, Times: 1}},
		"a captive portal":       {{Verb: list, Action: apitest.HTML(), Times: 1}, {Verb: watches, Action: apitest.HTML(), Times: 1}},
		"429":                    {{Verb: list, Action: apitest.TooManyRequests(0), Times: 1}},
		"a watch that is cut":    {{Verb: watches, Action: apitest.CutFrame(1), Times: 1}},
		"events that come twice": {{Verb: watches, Action: apitest.DuplicateEvents()}},
		"410 for the watch":      {{Verb: watches, Action: apitest.Expired(), Times: 1}},
	} {
		for i, contentType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf, runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			streaming := i < 2
			t.Run(fmt.Sprint(name, " ", contentType, " WatchList ", streaming), func(t *testing.T) {
				t.Parallel()
				n := 60
				if name == "410 within pages" {
					n = 520 // more objects than in a page
				}
				server := apitest.Start(t, apitest.Options{PagedCacheLists: true, NoWatchList: !streaming})
				require.NoError(t, apitest.Populate(server, apitest.Pods(n, apitest.PodOptions{Namespaces: 1})))
				var injected []*apitest.InjectedFault
				for _, fault := range faults {
					fault.Resource = "pods"
					// match only requests that the server accepts
					fault.Match = func(q apitest.Request) bool {
						return streaming || q.HTTP.URL.Query().Get("sendInitialEvents") == ""
					}
					if streaming && fault.Verb == list {
						t.Skip("the informer sends no list request")
					}
					injected = append(injected, server.Inject(fault))
				}
				transport := &http.Transport{}
				t.Cleanup(transport.CloseIdleConnections)
				client := typedcorev1.NewForConfigOrDie(&rest.Config{Host: server.URL(), QPS: -1, Transport: transport, ContentConfig: rest.ContentConfig{ContentType: contentType}})
				lw := cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything())
				store := cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0, cache.Indexers{})
				counter := &callCounter{}
				_, err := store.AddEventHandler(counter)
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { store.RunWithContext(ctx) })
				defer running.Wait()
				defer cancel()
				require.True(t, cache.WaitForCacheSync(ctx.Done(), store.HasSynced))
				pods := client.Pods("ns-0")
				// each pod twice: first an undecodable state, then a decodable state
				for i := range 6 {
					pod, err := pods.Get(ctx, fmt.Sprintf("pod-%06d", i%3), metav1.GetOptions{})
					require.NoError(t, err)
					pod.Labels = map[string]string{"changed": fmt.Sprint(i)}
					_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
					require.NoError(t, err)
				}
				require.NoError(t, pods.Delete(ctx, "pod-000003", metav1.DeleteOptions{}))
				for i, fault := range injected {
					if faults[i].Verb == list {
						require.NotZero(t, fault.Hits())
						fault.Remove()
					}
				}
				all, err := pods.List(ctx, metav1.ListOptions{})
				require.NoError(t, err)
				require.Len(t, all.Items, n-1)
				require.Eventually(t, func() bool {
					if len(store.GetStore().ListKeys()) != n-1 || counter.of("delete", "ns-0/pod-000003") == 0 {
						return false
					}
					for i := range all.Items {
						obj, exists, err := store.GetStore().GetByKey("ns-0/" + all.Items[i].Name)
						if err != nil || !exists || obj.(*corev1.Pod).ResourceVersion != all.Items[i].ResourceVersion {
							return false
						}
					}
					return true
				}, time.Minute, 10*time.Millisecond)
				for _, fault := range injected {
					require.NotZero(t, fault.Hits())
				}
				for i := range all.Items {
					obj, _, _ := store.GetStore().GetByKey("ns-0/" + all.Items[i].Name)
					require.Equal(t, &all.Items[i], obj)
					require.Equal(t, 1, counter.of("add", "ns-0/"+all.Items[i].Name))
					if i > 2 {
						require.Zero(t, counter.of("delete", "ns-0/"+all.Items[i].Name))
					}
				}
			})
		}
	}
}

// A program's own store cannot be notified of an undecodable object. The reflector skips the object
// and repeats the list until all objects can be decoded.
func TestAProgramsStoreGetsNoUndecodableObjects(t *testing.T) {
	const (
		list   = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"},"items":[%s]}`
		object = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"ns","uid":%q,"resourceVersion":"%d"},"spec":{"containers":%s}}`
		event  = `{"type":%q,"object":%s}` + "\n"
		good   = "[]"
		broken = "7"
	)
	pod := func(name string, version int, containers string) string {
		return fmt.Sprintf(object, name, name, version, containers)
	}
	b4 := pod("b", 4, good)
	for name, c := range map[string]struct {
		events string
		second string // the items of the second list
	}{
		"a change":   {fmt.Sprintf(event, "MODIFIED", pod("a", 11, broken)), pod("a", 11, good) + "," + b4},
		"a deletion": {fmt.Sprintf(event, "DELETED", pod("a", 11, broken)), b4},
		"of a list":  {`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}` + "\n", pod("a", 11, broken) + "," + b4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lists, watches atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", runtime.ContentTypeJSON)
				query := r.URL.Query()
				switch {
				case query.Get("sendInitialEvents") != "":
					http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
				case query.Get("watch") == "":
					items := []string{pod("a", 3, good) + "," + b4, c.second, pod("c", 20, good)}
					n := lists.Add(1)
					fmt.Fprintf(w, list, 10*n, items[min(n, 3)-1])
				default:
					if watches.Add(1) == 1 {
						fmt.Fprint(w, c.events)
					}
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				}
			}))
			defer server.Close()
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := typedcorev1.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1, Transport: transport, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
			calls := make(chan string, 100)
			record := func(what string, objs ...any) error {
				for _, obj := range objs {
					pod, ok := obj.(*corev1.Pod)
					if !ok {
						what += fmt.Sprintf(" %v", obj)
						continue
					}
					what += " " + pod.Name + "@" + pod.ResourceVersion
				}
				calls <- what
				return nil
			}
			r := cache.NewReflectorWithOptions(cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything()), &corev1.Pod{}, &cache.FakeCustomStore{
				AddFunc:     func(obj any) error { return record("add", obj) },
				UpdateFunc:  func(obj any) error { return record("update", obj) },
				DeleteFunc:  func(obj any) error { return record("delete", obj) },
				ReplaceFunc: func(objs []any, _ string) error { return record("replace", objs...) },
			}, cache.ReflectorOptions{Backoff: &wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Cap: 20 * time.Millisecond}})
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { r.RunWithContext(ctx) })
			defer running.Wait()
			defer cancel()
			require.Equal(t, "replace a@3 b@4", <-calls)
			require.Equal(t, map[string]string{
				"a change": "replace a@11 b@4", "a deletion": "replace b@4", "of a list": "replace c@20",
			}[name], <-calls)
		})
	}
}

// An informer notifies error handlers of an undecodable object, and continues without it.
func TestAnUndecodableObjectIsReported(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		switch query := r.URL.Query(); {
		case query.Get("sendInitialEvents") != "":
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
		case query.Get("watch") == "":
			_, _ = w.Write([]byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}`))
		default:
			_, _ = w.Write([]byte(`{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"ns","uid":"u","resourceVersion":"2"},"spec":{"containers":7}}}` + "\n"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := typedcorev1.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1, Transport: transport, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}})
	informer := cache.NewSharedIndexInformer(cache.NewListWatchFromClient(client.RESTClient(), "pods", "", fields.Everything()), &corev1.Pod{}, 0, cache.Indexers{})
	reported := make(chan error, 10)
	require.NoError(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { reported <- err }))
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	defer running.Wait()
	defer cancel()
	select {
	case err := <-reported:
		require.ErrorContains(t, err, "ns/a")
	case <-time.After(time.Minute):
		require.Fail(t, "the error handler must be called")
	}
}
