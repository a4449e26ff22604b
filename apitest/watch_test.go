package apitest_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

// encodings are the media types for a watch of a built-in type.
var encodings = map[string]string{"JSON": jsonType, "protobuf": protoType}

func update(t *testing.T, srv *apitest.Server, obj apitest.Object) {
	t.Helper()
	_, err := srv.Update(obj)
	require.NoError(t, err)
}

func TestWatchReportsEveryChangeInOrder(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{})
			create(t, srv, pod("a", "before"))
			w := c.watch(t, "/api/v1/pods", accept, "resourceVersion", srv.ResourceVersion())

			create(t, srv, pod("a", "p"))
			update(t, srv, pod("a", "p", "app", "web"))
			require.NoError(t, srv.Delete(pods, key("a", "p")))
			create(t, srv, pod("b", "q"))

			require.Equal(t, "3", w.expect("ADDED a/p").Object.ResourceVersion)
			ev := w.expect("MODIFIED a/p")
			require.Equal(t, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ev.Object.TypeMeta)
			require.Equal(t, "web", ev.pod(t).Labels["app"])
			gone := w.expect("DELETED a/p").pod(t)
			require.Equal(t, "5", gone.ResourceVersion, "the object must have the version of the deletion")
			require.Equal(t, "web", gone.Labels["app"], "the object must have its last state")
			w.expect("ADDED b/q")
		})
	}
}

func TestWatchWithoutAVersionBeginsWithAllObjects(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("b", "y"), pod("a", "x"))
	for _, params := range [][]string{nil, {"resourceVersion", "0"}} {
		w := c.watch(t, "/api/v1/pods", jsonType, params...)
		w.expect("ADDED a/x", "ADDED b/y")
	}
	w := c.watch(t, "/api/v1/namespaces/b/pods", jsonType)
	w.expect("ADDED b/y")
	w = c.watch(t, "/api/v1/pods", jsonType, "sendInitialEvents", "false", "resourceVersionMatch", "NotOlderThan")
	create(t, srv, pod("c", "z"))
	w.expect("ADDED c/z")
}

func TestWatchFollowsSelectors(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{})
			w := c.watch(t, "/api/v1/namespaces/a/pods", accept, "labelSelector", "app=web", "resourceVersion", "1")
			create(t, srv, pod("b", "p", "app", "web"), pod("a", "p", "app", "db"))
			update(t, srv, pod("a", "p", "app", "web", "n", "1"))
			update(t, srv, pod("a", "p", "app", "web", "n", "2"))
			update(t, srv, pod("a", "p", "app", "db", "n", "3"))
			update(t, srv, pod("a", "p", "app", "db", "n", "4"))
			update(t, srv, pod("a", "p", "app", "web"))
			require.NoError(t, srv.Delete(pods, key("a", "p")))

			w.expect("ADDED a/p", "MODIFIED a/p")
			left := w.expect("DELETED a/p")
			require.Equal(t, "2", left.Object.Labels["n"], "the object must have the last state that matched")
			require.Equal(t, "6", left.Object.ResourceVersion, "the event must have the version of the change")
			w.expect("ADDED a/p", "DELETED a/p")
		})
	}
}

func TestWatchByField(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	w := c.watch(t, "/api/v1/pods", jsonType, "fieldSelector", "spec.nodeName=n1")
	one := c.watch(t, "/api/v1/namespaces/a/pods", jsonType, "fieldSelector", "metadata.name=p")
	red := c.watch(t, "/apis/example.com/v1/widgets", jsonType, "fieldSelector", "spec.color=red")
	create(t, srv, pod("a", "q"), pod("a", "p"), widget("a", "w", "blue"))
	bound := pod("a", "p")
	bound.Spec.NodeName = "n1"
	update(t, srv, bound)
	update(t, srv, widget("a", "w", "red"))
	w.expect("ADDED a/p")
	one.expect("ADDED a/p", "MODIFIED a/p")
	red.expect("ADDED a/w")
	require.Equal(t, http.StatusBadRequest, c.send(t, "GET", "/api/v1/pods?watch=1&fieldSelector=x%3Dy", "").StatusCode)
}

func TestWatchOfMetadataOnly(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{Resources: []apitest.Resource{widgets}})
	create(t, srv, widget("a", "w", "red"))
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.watch(t, "/apis/example.com/v1/widgets", accept+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
			ev := w.expect("ADDED a/w")
			require.Equal(t, metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"}, ev.Object.TypeMeta)
			require.NotContains(t, string(ev.raw), "red")
		})
	}
}

func TestWatchBeyondTheWindowIs410(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{Window: 3})
			for i := range 5 {
				create(t, srv, pod("a", fmt.Sprintf("p%d", i))) // versions 2 to 6
			}
			w := c.watch(t, "/api/v1/pods", accept, "resourceVersion", "3")
			w.expect("ADDED a/p2", "ADDED a/p3", "ADDED a/p4")

			w = c.watch(t, "/api/v1/pods", accept, "resourceVersion", "2")
			status := w.status()
			require.EqualValues(t, http.StatusGone, status.Code)
			require.Equal(t, metav1.StatusReasonExpired, status.Reason)
			require.Equal(t, "too old resource version: 2 (3)", status.Message)
			w.ends()
		})
	}
}

func TestOpenWatchSurvivesCompaction(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	w := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "1")
	create(t, srv, pod("a", "p"))
	w.expect("ADDED a/p")
	srv.Compact()
	create(t, srv, pod("a", "q"))
	w.expect("ADDED a/q")
	w = c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "1")
	w.status()
}

func TestWatchFromAFutureVersionWaits(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	w := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "3")
	create(t, srv, pod("a", "p2"), pod("a", "p3"), pod("a", "p4"))
	w.expect("ADDED a/p4")
}

func TestWatchListEndsItsInitialEventsWithAMarker(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, c := start(t, apitest.Options{})
			create(t, srv, pod("a", "p"), pod("a", "q"))
			list := []string{"sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan"}
			w := c.watch(t, "/api/v1/pods", accept, append(list, "allowWatchBookmarks", "true", "resourceVersion", "2")...)
			marker := w.expect("ADDED a/p", "ADDED a/q", "BOOKMARK END 3")
			require.Equal(t, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, marker.Object.TypeMeta)
			create(t, srv, pod("a", "r"))
			w.expect("ADDED a/r")

			w = c.watch(t, "/api/v1/pods", accept, append(list, "allowWatchBookmarks", "true", "labelSelector", "none")...)
			w.expect("BOOKMARK END 4")
		})
	}
}

func TestWatchParametersAreChecked(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	_, old := start(t, apitest.Options{NoWatchList: true})
	for _, query := range []string{"sendInitialEvents=true", "resourceVersionMatch=NotOlderThan", "sendInitialEvents=true&resourceVersionMatch=Exact"} {
		status := c.fails(t, http.StatusUnprocessableEntity, "GET", "/api/v1/pods?watch=1&"+query, "")
		require.Equal(t, metav1.StatusReasonInvalid, status.Reason)
	}
	const good = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion="
	old.fails(t, http.StatusUnprocessableEntity, "GET", good, "")
	w := c.watch(t, "/api/v1/pods", jsonType, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "resourceVersion", "99")
	require.Equal(t, metav1.CauseTypeResourceVersionTooLarge, w.status().Details.Causes[0].Type)
	w.ends()
	c.fails(t, http.StatusBadRequest, "GET", "/api/v1/pods?watch=1&resourceVersion=x", "")
	c.fails(t, http.StatusBadRequest, "GET", "/api/v1/pods?watch=1&timeoutSeconds=x", "")
	require.Zero(t, srv.Watches(""))
}

func TestBookmarksComeAtIntervalsAndBeforeTheEnd(t *testing.T) {
	t.Parallel()
	for name, accept := range encodings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				srv, c := startMemory(t, apitest.Options{})
				begin := time.Now()
				after := func(d time.Duration) { t.Helper(); require.Equal(t, d, time.Since(begin)) }
				w := c.watch(t, "/api/v1/pods", accept, "resourceVersion", "1", "allowWatchBookmarks", "true", "timeoutSeconds", "150")
				none := c.watch(t, "/api/v1/pods", accept, "resourceVersion", "1", "timeoutSeconds", "150")

				create(t, srv, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
				bookmark := w.expect("BOOKMARK 2") // a version that is not the version of any pod
				require.Equal(t, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, bookmark.Object.TypeMeta)
				after(time.Minute)
				w.expect("BOOKMARK 2")
				after(2 * time.Minute)
				create(t, srv, pod("a", "p"))
				w.expect("ADDED a/p", "BOOKMARK 3")
				after(148 * time.Second)
				w.ends()
				after(150 * time.Second)
				none.expect("ADDED a/p")
				none.ends()
			})
		})
	}
}

func TestWatchEndsAfterTheDefaultTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, c := startMemory(t, apitest.Options{WatchTimeout: 7 * time.Second})
		begin := time.Now()
		c.watch(t, "/api/v1/pods", jsonType).ends()
		require.Equal(t, 7*time.Second, time.Since(begin))
	})
}

func TestSlowWatcherDelaysNobodyAndExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{Window: 1000})
		slow := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "1")
		fast := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "1")
		const n = 3000
		for i := range n {
			create(t, srv, pod("a", strconv.Itoa(i)))
			fast.expect("ADDED a/" + strconv.Itoa(i))
		}
		seen := 0
		for {
			ev, err := slow.next()
			require.NoError(t, err)
			if ev.Type == "ERROR" {
				require.EqualValues(t, http.StatusGone, decode[metav1.Status](t, ev.raw).Code)
				break
			}
			require.Equal(t, "ADDED a/"+strconv.Itoa(seen), ev.String())
			seen++
		}
		require.Less(t, seen, n)
		slow.ends()
	})
}

func TestWatchesEndWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{})
		w := c.watch(t, "/api/v1/pods", jsonType)
		require.Equal(t, 1, srv.Watches("pods"))
		require.Equal(t, 0, srv.Watches("nodes"))
		srv.Close()
		_, err := w.next()
		require.Error(t, err)
		srv.Close()
		require.Zero(t, srv.Watches(""))
		_, err = srv.DialContext(t.Context(), "tcp", "")
		require.ErrorIs(t, err, apitest.ErrClosed)
		require.ErrorIs(t, srv.ListenMemory(), apitest.ErrClosed)
	})
}

func TestWatchesCanBeEndedAndDropped(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	w := c.watch(t, "/api/v1/pods", jsonType)
	nodes := c.watch(t, "/api/v1/nodes", jsonType)
	require.Equal(t, 1, srv.EndWatches("pods"))
	w.ends()
	w = c.watch(t, "/api/v1/pods", jsonType)
	require.Equal(t, 1, srv.DropWatches("pods"))
	_, err := w.next()
	require.ErrorContains(t, err, "unexpected EOF")
	create(t, srv, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	nodes.expect("ADDED /n")
}
