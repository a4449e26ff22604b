package contracts

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// unusualServer serves config maps, as the transport of a client. A test chooses the versions, the
// bookmarks and the ends of watches.
type unusualServer struct {
	// serveWatch serves the n-th watch, counted from 0, after watchStatus has accepted it. If
	// serveWatch is nil, the watch stays open.
	serveWatch func(n int, w *unusualWatch)
	// watchStatus returns the status code with which the n-th watch is rejected, or 0 if it is
	// accepted.
	watchStatus func(n int) int
	// serveStreamingList serves a streaming list. If serveStreamingList is nil, streaming lists are
	// rejected.
	serveStreamingList func(w *unusualWatch)
	version            string // of lists

	mu      sync.Mutex // guards following
	objects []string   // "name@version"
	lists   int
	watches []*unusualWatch
	queries []url.Values // of watches
}

// unusualWatch is an open watch of an unusualServer.
type unusualWatch struct {
	server *unusualServer
	kind   string
	body   *io.PipeWriter
}

// send sends events: "+name@version" for added, "~..." for modified, "-..." for deleted.
func (w *unusualWatch) send(events ...string) {
	for _, e := range events {
		name := map[byte]string{'+': "ADDED", '~': "MODIFIED", '-': "DELETED"}[e[0]]
		w.raw(fmt.Sprintf(`{"type":%q,"object":%s}`, name, objectJSON(w.kind, e[1:])))
	}
}

// raw sends a line. It ignores errors, because the client may have closed the connection.
func (w *unusualWatch) raw(line string) { _, _ = w.body.Write([]byte(line + "\n")) }

func (w *unusualWatch) end()      { _ = w.body.Close() }
func (w *unusualWatch) breakOff() { _ = w.body.CloseWithError(io.ErrUnexpectedEOF) }

func objectJSON(kind, s string) string {
	name, version, _ := strings.Cut(s, "@")
	head := `"kind":"ConfigMap","apiVersion":"v1"`
	if kind == "PartialObjectMetadata" {
		head = `"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1"`
	}
	if version != "" {
		version = `,"resourceVersion":"` + version + `"`
	}
	return fmt.Sprintf(`{%s,"metadata":{"name":%q,"namespace":"ns","uid":"u-%s"%s}}`, head, name, name, version)
}

func (s *unusualServer) set(objects ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects = objects
}

// last returns the most recently opened watch.
func (s *unusualServer) last() *unusualWatch {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches[len(s.watches)-1]
}

// counts returns the numbers of lists and watches.
func (s *unusualServer) counts() (lists, watches int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, len(s.queries)
}

func (s *unusualServer) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	reply := func(code int, body io.ReadCloser) (*http.Response, error) {
		return &http.Response{
			StatusCode: code, Status: fmt.Sprint(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1,
		}, nil
	}
	status := func(code int, reason string) (*http.Response, error) {
		text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}`, reason, code)
		return reply(code, io.NopCloser(strings.NewReader(text)))
	}
	kind := "ConfigMap"
	if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata") {
		kind = "PartialObjectMetadata"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case query.Get("sendInitialEvents") != "" && s.serveStreamingList != nil:
		body, to := io.Pipe()
		go s.serveStreamingList(&unusualWatch{s, kind, to})
		return reply(200, body)
	case query.Get("sendInitialEvents") != "":
		return status(422, "Invalid")
	case query.Get("watch") == "":
		s.lists++
		items := make([]string, len(s.objects))
		for i, o := range s.objects {
			items[i] = objectJSON(kind, o)
		}
		head := `"kind":"` + kind + `List","apiVersion":"v1"`
		if kind != "ConfigMap" {
			head = `"kind":"` + kind + `List","apiVersion":"meta.k8s.io/v1"`
		}
		list := fmt.Sprintf(`{%s,"metadata":{"resourceVersion":%q},"items":[%s]}`, head, s.version, strings.Join(items, ","))
		return reply(200, io.NopCloser(bytes.NewReader([]byte(list))))
	}
	n := len(s.queries)
	s.queries = append(s.queries, query)
	if s.watchStatus != nil {
		if code := s.watchStatus(n); code != 0 {
			return status(code, "")
		}
	}
	body, to := io.Pipe()
	w := &unusualWatch{s, kind, to}
	s.watches = append(s.watches, w)
	var initial []string
	if v := query.Get("resourceVersion"); v == "" || v == "0" {
		for _, o := range s.objects {
			initial = append(initial, "+"+o)
		}
	}
	go func() {
		w.send(initial...)
		if s.serveWatch != nil {
			s.serveWatch(n, w)
		}
	}()
	return reply(200, body)
}

// informersByClient has a function for each of the three kinds of clients that makes an informer.
var informersByClient = map[string]func(c *restclient.Config) cache.SharedIndexInformer{
	"typed": func(c *restclient.Config) cache.SharedIndexInformer {
		return informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(c), 0).Core().V1().ConfigMaps().Informer()
	},
	"dynamic": func(c *restclient.Config) cache.SharedIndexInformer {
		return dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(c), 0).ForResource(configMaps).Informer()
	},
	"metadata": func(c *restclient.Config) cache.SharedIndexInformer {
		return metadatainformer.NewSharedInformerFactory(metadata.NewForConfigOrDie(c), 0).ForResource(configMaps).Informer()
	},
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// forEachInformer runs a test with each kind of informer.
func forEachInformer(t *testing.T, serve func() *unusualServer, test func(t *testing.T, s *unusualServer, store cache.Store, events func() []string)) {
	for name, informer := range informersByClient {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve()
				c := &restclient.Config{Host: "http://odd.example", QPS: -1, Transport: s}
				c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
				if name == "metadata" {
					// this client sets its own Accept headers
					c.ContentConfig = restclient.ContentConfig{}
				}
				i := informer(c)
				var mu sync.Mutex
				var lines []string
				record := func(verb string, obj any) {
					mu.Lock()
					defer mu.Unlock()
					if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
						obj = gone.Obj
					}
					o := obj.(metav1.Object)
					lines = append(lines, strings.TrimSuffix(verb+o.GetName()+"@"+o.GetResourceVersion(), "@"))
				}
				_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
					AddFunc:    func(obj any) { record("+", obj) },
					UpdateFunc: func(_, obj any) { record("~", obj) },
					DeleteFunc: func(obj any) { record("-", obj) },
				})
				require.NoError(t, err)
				run(t, i.RunWithContext, func() {
					defer func() {
						s.mu.Lock()
						defer s.mu.Unlock()
						for _, w := range s.watches {
							w.end()
						}
					}()
					test(t, s, i.GetStore(), func() []string {
						synctest.Wait()
						mu.Lock()
						defer mu.Unlock()
						all := lines
						lines = nil
						return all
					})
				})
			})
		})
	}
}

// D6: a streaming list may end before its end marker, or may send nothing. A list follows.
func TestAStreamingListWithoutEndMarkerIsReplacedByAList(t *testing.T) {
	for name, streams := range map[string]func(w *unusualWatch){
		"silent":     func(*unusualWatch) {},
		"ends early": func(w *unusualWatch) { w.send("+a@5"); w.end() },
	} {
		t.Run(name, func(t *testing.T) {
			forEachInformer(t, func() *unusualServer {
				return &unusualServer{version: "8", objects: []string{"a@5"}, serveStreamingList: streams}
			}, func(t *testing.T, _ *unusualServer, store cache.Store, events func() []string) {
				sleepAndSettle(15 * time.Minute)
				require.Equal(t, []string{"ns/a"}, store.ListKeys())
				require.Equal(t, []string{"+a@5"}, events())
			})
		})
	}
}

// RC-24: no event is lost if a bookmark is unusable.
func TestNoEventIsLostAfterAnUnusableBookmark(t *testing.T) {
	for name, bookmark := range map[string]string{
		"without a version":     `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`,
		"with an empty version": `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":""}}`,
		"of version 0":          `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"0"}}`,
		"without metadata":      `{"kind":"ConfigMap","apiVersion":"v1"}`,
		"with metadata of null": `{"kind":"ConfigMap","apiVersion":"v1","metadata":null}`,
		"of its own kind":       `{"kind":"Bookmark","apiVersion":"v1","metadata":{"resourceVersion":"9"}}`,
		"of no kind":            `{"metadata":{"resourceVersion":""}}`,
	} {
		for _, versions := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, versions %v", name, versions), func(t *testing.T) {
				at := func(object, version string) string {
					if versions {
						return object + "@" + version
					}
					return object
				}
				forEachInformer(t, func() *unusualServer {
					s := &unusualServer{objects: []string{at("a", "5"), at("b", "6")}, serveWatch: func(_ int, w *unusualWatch) {
						w.raw(fmt.Sprintf(`{"type":"BOOKMARK","object":%s}`, bookmark))
					}}
					if versions {
						s.version = "8"
					}
					return s
				}, func(t *testing.T, s *unusualServer, store cache.Store, events func() []string) {
					sleepAndSettle(5 * time.Second)
					s.set(at("b", "6"), at("c", "10"))
					s.last().send("-"+at("a", "9"), "+"+at("c", "10"))
					sleepAndSettle(time.Minute)
					require.ElementsMatch(t, []string{"ns/b", "ns/c"}, store.ListKeys())
					require.Contains(t, strings.Join(events(), " "), "-a")
					// A decoder that does not know the kind of the first event's object may end the
					// watch.
					if _, watches := s.counts(); strings.Contains(bookmark, `"`+s.last().kind+`"`) {
						require.Equal(t, 1, watches)
					}
				})
			})
		}
	}
}

// RC-24: a watch from no version, or from "0", does not report deleted objects. A list must follow
// when the watch is lost.
func TestALostWatchWithoutAVersionLosesNoEvents(t *testing.T) {
	losses := map[string]func(s *unusualServer, w *unusualWatch){
		"cut":                    func(_ *unusualServer, w *unusualWatch) { w.breakOff() },
		"an orderly end":         func(_ *unusualServer, w *unusualWatch) { w.end() },
		"ERROR 500":              func(_ *unusualServer, w *unusualWatch) { w.raw(statusJSON(500, "InternalError")) },
		"ERROR 429":              func(_ *unusualServer, w *unusualWatch) { w.raw(statusJSON(429, "TooManyRequests")) },
		"ERROR 410":              func(_ *unusualServer, w *unusualWatch) { w.raw(statusJSON(410, "Expired")) },
		"503 for the next watch": func(s *unusualServer, w *unusualWatch) { s.watchStatus = once503; w.end() },
		"silence":                func(*unusualServer, *unusualWatch) {},
	}
	for name, lose := range losses {
		for _, version := range []string{"", "0"} {
			t.Run(fmt.Sprintf("%s, from %q", name, version), func(t *testing.T) {
				forEachInformer(t, func() *unusualServer {
					return &unusualServer{version: version, objects: []string{"a", "b"}}
				}, func(t *testing.T, s *unusualServer, store cache.Store, events func() []string) {
					sleepAndSettle(5 * time.Second)
					require.ElementsMatch(t, []string{"ns/a", "ns/b"}, store.ListKeys())
					s.set("a")
					lose(s, s.last())
					sleepAndSettle(10 * time.Minute)
					require.Equal(t, []string{"ns/a"}, store.ListKeys())
					require.Contains(t, events(), "-b")
				})
			})
		}
	}
}

func once503(n int) int {
	if n == 1 {
		return 503
	}
	return 0
}

func statusJSON(code int, reason string) string {
	return fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d}}`, reason, code)
}

// RC-24: versions of objects need not be comparable with versions of lists. Events are applied in
// the order in which they arrive.
func TestVersionsOfObjectsMayDifferFromTheLists(t *testing.T) {
	forEachInformer(t, func() *unusualServer {
		return &unusualServer{version: "100", objects: []string{"a@8", "b@1"}}
	}, func(t *testing.T, s *unusualServer, store cache.Store, events func() []string) {
		require.ElementsMatch(t, []string{"+a@8", "+b@1"}, events())
		var want []string
		for i := 9; i < 54; i++ { // each change increments the version
			want = append(want, fmt.Sprintf("~a@%d", i))
		}
		want = append(want, "+c@1", "~c@2", "-c@2", "+d@7", "-a@60", "+a@1")
		s.last().send(want...)
		require.Equal(t, want, events())
		lists, watches := s.counts()
		require.Equal(t, 1, lists)
		require.Equal(t, 1, watches)
		require.ElementsMatch(t, []string{"ns/a", "ns/b", "ns/d"}, store.ListKeys())
	})
}

// SI-12: an update with the version of the stored object is notified like a resync. So handlers
// without resyncs are not notified. The store has the update.
func TestAnUpdateWithAnUnchangedVersionIsNotified(t *testing.T) {
	for name, informer := range informersByClient {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &unusualServer{version: "100", objects: []string{"a@1"}}
				i := informer(&restclient.Config{Host: "http://odd.example", QPS: -1, Transport: s, ContentConfig: restclient.ContentConfig{AcceptContentTypes: "application/json"}})
				run(t, i.RunWithContext, func() {
					w := s.last()
					defer w.end()
					w.raw(`{"type":"MODIFIED","object":` + strings.Replace(objectJSON(w.kind, "a@1"), `"uid"`, `"labels":{"n":"2"},"uid"`, 1) + `}`)
					synctest.Wait()
					o, _, err := i.GetStore().GetByKey("ns/a")
					require.NoError(t, err)
					require.Equal(t, map[string]string{"n": "2"}, o.(metav1.Object).GetLabels())
				})
			})
		})
	}
}
