package apitest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
)

// state is the state of a client after a list and some watch events.
type state map[string]string // name to version

func (s state) apply(t *testing.T, ev event) {
	t.Helper()
	name, version := ev.Object.Namespace+"/"+ev.Object.Name, ev.Object.ResourceVersion
	_, known := s[name]
	switch ev.Type {
	case "ADDED":
		require.False(t, known, "%s must not be added twice", name)
		s[name] = version
	case "MODIFIED":
		require.True(t, known, "%s must be added before it is modified", name)
		s[name] = version
	case "DELETED":
		require.True(t, known, "%s must be added before it is deleted", name)
		delete(s, name)
	}
}

func stateOf(list corev1.PodList) state {
	s := state{}
	for _, p := range list.Items {
		s[p.Namespace+"/"+p.Name] = p.ResourceVersion
	}
	return s
}

// For every selector, the test applies the events of a watch one by one. At every version, the
// result equals an exact list of that version.
func TestWatchAndExactListsAgree(t *testing.T) {
	t.Parallel()
	for name, selector := range map[string][]string{
		"everything": nil, "by field": {"fieldSelector", "metadata.namespace=ns-1"}, "by label": {"labelSelector", "tier=data"}, "by a label that changes": {"labelSelector", "odd"},
	} {
		path := "/api/v1/pods?"
		for i := 0; i < len(selector); i += 2 {
			path += selector[i] + "=" + url.QueryEscape(selector[i+1]) + "&"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv, c := startMemory(t, apitest.Options{})
				require.NoError(t, apitest.Populate(srv, apitest.Pods(30, apitest.PodOptions{Namespaces: 3})))
				list := get[corev1.PodList](t, c, path)
				held := stateOf(list)
				w := c.watch(t, "/api/v1/pods", protoType, append(selector, "timeoutSeconds", "30", "resourceVersion", list.ResourceVersion)...)
				go func() {
					_, _ = srv.Churn(t.Context(), apitest.ChurnOptions{PerSecond: 30, Writes: testsize.Scale(300, 100), Creates: 1, Updates: 2, Deletes: 1, Pods: apitest.PodOptions{Namespaces: 3}})
				}()
				go relabel(t, srv)

				for n := 0; ; n++ {
					ev, err := w.next()
					if err != nil {
						break
					}
					held.apply(t, ev)
					if n%5 == 0 {
						exact := c.do(t, http.StatusOK, "GET", path+"resourceVersionMatch=Exact&resourceVersion="+ev.Object.ResourceVersion, "")
						require.Equal(t, stateOf(decode[corev1.PodList](t, exact)), held, "after %s at %s", ev, ev.Object.ResourceVersion)
					}
				}
				require.Equal(t, stateOf(get[corev1.PodList](t, c, path)), held)
			})
		})
	}
}

// relabel adds and removes the label "odd" of pods, for ten seconds.
func relabel(t *testing.T, srv *apitest.Server) {
	for n := range 100 {
		time.Sleep(100 * time.Millisecond)
		objects, _, err := srv.List(pods, "")
		require.NoError(t, err)
		obj := objects[n*7%len(objects)]
		labels := maps.Clone(obj.GetLabels())
		if n%2 == 0 {
			labels["odd"] = strconv.Itoa(n)
		} else {
			delete(labels, "odd")
		}
		obj.SetLabels(labels)
		_, _ = srv.Update(obj) // may fail: another writer may come first
	}
}

func TestHistoryOfOtherResourcesIsNotMixedIn(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, pod("a", "x"), widget("a", "x", "red"), pod("a", "y"))
	w := c.watch(t, "/apis/example.com/v1/widgets", jsonType, "resourceVersion", "1")
	w.expect("ADDED a/x")
	update(t, srv, widget("a", "x", "blue"))
	w.expect("MODIFIED a/x")
	exact := c.do(t, http.StatusOK, "GET", "/apis/example.com/v1/widgets?resourceVersion=3&resourceVersionMatch=Exact", "")
	require.Contains(t, string(exact), "red")
}

// Each stored version is encoded only once, and all readers share the bytes.
func TestEveryReaderGetsTheSameBytes(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(srv, apitest.Pods(20, apitest.PodOptions{})))
	results := make(chan []byte)
	for range 8 {
		go func() { results <- c.do(t, http.StatusOK, "GET", "/api/v1/pods", "") }()
	}
	first := <-results
	require.True(t, json.Valid(first))
	for range 7 {
		require.True(t, slices.Equal(first, <-results))
	}
	require.Len(t, decode[corev1.PodList](t, first).Items, 20, fmt.Sprint("of ", len(first), " bytes"))
}
