package apitest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

const mapsPath = "/api/v1/namespaces/a/configmaps"

// owned creates a config map with owners, and returns it.
func owned(t *testing.T, c *client, name string, owners ...corev1.ConfigMap) corev1.ConfigMap {
	t.Helper()
	var refs []string
	for _, o := range owners {
		refs = append(refs, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}`, o.Name, o.UID))
	}
	body := fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, strings.Join(refs, ","))
	return decode[corev1.ConfigMap](t, c.do(t, http.StatusCreated, "POST", mapsPath, body))
}

func left(t *testing.T, c *client) []string {
	t.Helper()
	synctest.Wait()
	return names[corev1.ConfigMap](get[corev1.ConfigMapList](t, c, mapsPath).Items)
}

func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	const background, foreground, orphan = `{"propagationPolicy":"Background"}`, `{"propagationPolicy":"Foreground"}`, `{"propagationPolicy":"Orphan"}`
	for name, test := range map[string]func(t *testing.T, c *client){
		"background": func(t *testing.T, c *client) {
			a := owned(t, c, "a")
			owned(t, c, "c", owned(t, c, "b", a))
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", background)
			require.Empty(t, left(t, c))
		},
		"by default": func(t *testing.T, c *client) {
			owned(t, c, "b", owned(t, c, "a"))
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", "")
			require.Empty(t, left(t, c))
		},
		"foreground waits for dependents": func(t *testing.T, c *client) {
			a := owned(t, c, "a")
			owned(t, c, "b", a)
			c.do(t, http.StatusOK, "PATCH", mapsPath+"/b", `{"metadata":{"finalizers":["x.y/z"]}}`, "Content-Type", mergePatch)
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", foreground)
			require.Equal(t, []string{"a/a", "a/b"}, left(t, c))
			require.Equal(t, []string{metav1.FinalizerDeleteDependents}, get[corev1.ConfigMap](t, c, mapsPath+"/a").Finalizers)
			require.NotNil(t, get[corev1.ConfigMap](t, c, mapsPath+"/b").DeletionTimestamp)
			c.do(t, http.StatusOK, "PATCH", mapsPath+"/b", `{"metadata":{"finalizers":null}}`, "Content-Type", mergePatch)
			require.Empty(t, left(t, c))
		},
		"foreground by the query": func(t *testing.T, c *client) {
			owned(t, c, "c", owned(t, c, "b", owned(t, c, "a")))
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a?propagationPolicy=Foreground", "")
			require.Empty(t, left(t, c))
		},
		"orphan": func(t *testing.T, c *client) {
			owned(t, c, "b", owned(t, c, "a"))
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", orphan)
			require.Equal(t, []string{"a/b"}, left(t, c))
			require.Empty(t, get[corev1.ConfigMap](t, c, mapsPath+"/b").OwnerReferences)
		},
		"orphan by default, of old types": func(t *testing.T, c *client) {
			for path, kind := range map[string]string{"/apis/batch/v1/namespaces/a/jobs": "batch/v1 Job", "/api/v1/namespaces/a/replicationcontrollers": "v1 ReplicationController"} {
				apiVersion, kind, _ := strings.Cut(kind, " ")
				made := decode[metav1.PartialObjectMetadata](t, c.do(t, http.StatusCreated, "POST", path, `{"metadata":{"name":"old"}}`))
				c.do(t, http.StatusCreated, "POST", mapsPath, fmt.Sprintf(`{"metadata":{"generateName":"m-","ownerReferences":[{"apiVersion":%q,"kind":%q,"name":"old","uid":%q}]}}`, apiVersion, kind, made.UID))
				c.do(t, http.StatusOK, "DELETE", path+"/old", "")
				synctest.Wait()
				c.do(t, http.StatusNotFound, "GET", path+"/old", "")
			}
			require.Len(t, left(t, c), 2)
		},
		"one owner of two": func(t *testing.T, c *client) {
			a, b := owned(t, c, "a"), owned(t, c, "b")
			owned(t, c, "c", a, b)
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", background)
			require.Equal(t, []string{"a/b", "a/c"}, left(t, c))
			require.Len(t, get[corev1.ConfigMap](t, c, mapsPath+"/c").OwnerReferences, 1)
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/b", background)
			require.Empty(t, left(t, c))
		},
		"an owner that never existed": func(t *testing.T, c *client) {
			owned(t, c, "b", corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "none"}})
			require.Empty(t, left(t, c))
		},
		"a cycle": func(t *testing.T, c *client) {
			a := owned(t, c, "a")
			b := owned(t, c, "b", a)
			c.do(t, http.StatusOK, "PATCH", mapsPath+"/a", fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":%q}]}}`, b.UID), "Content-Type", mergePatch)
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", background)
			require.Empty(t, left(t, c))
		},
		"an orphan finalizer decides": func(t *testing.T, c *client) {
			b := owned(t, c, "b", owned(t, c, "a"))
			owned(t, c, "c", b)
			c.do(t, http.StatusOK, "PATCH", mapsPath+"/b", `{"metadata":{"finalizers":["orphan"]}}`, "Content-Type", mergePatch)
			c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", background)
			require.Equal(t, []string{"a/c"}, left(t, c))
			require.Empty(t, get[corev1.ConfigMap](t, c, mapsPath+"/c").OwnerReferences)
		},
		"contradictions": func(t *testing.T, c *client) {
			owned(t, c, "a")
			c.fails(t, http.StatusUnprocessableEntity, "DELETE", mapsPath+"/a", `{"propagationPolicy":"Orphan","orphanDependents":true}`)
			c.fails(t, http.StatusUnprocessableEntity, "DELETE", mapsPath+"/a", `{"propagationPolicy":"Never"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, c := startMemory(t, apitest.Options{GarbageCollection: true})
				test(t, c)
			})
		})
	}
}

func TestWithoutGarbageCollectionOwnersAreOnlyStored(t *testing.T) {
	t.Parallel()
	_, c := start(t, apitest.Options{})
	owned(t, c, "b", owned(t, c, "a"))
	c.do(t, http.StatusOK, "DELETE", mapsPath+"/a", `{"propagationPolicy":"Foreground"}`)
	c.do(t, http.StatusNotFound, "GET", mapsPath+"/a", "")
	c.do(t, http.StatusOK, "GET", mapsPath+"/b", "")
}

// TestGarbageCollectionAfterMissedChanges: the collector handles objects that existed before it
// started. It also handles changes that it missed because the window passed them, or because a
// backup was restored.
func TestGarbageCollectionAfterMissedChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.New(apitest.Options{GarbageCollection: true, Window: 3})
		t.Cleanup(srv.Close)
		orphaned := func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"}}}}
		}
		create(t, srv, orphaned("before"))
		require.NoError(t, srv.ListenMemory())
		c := newClient(t, srv)
		require.Empty(t, left(t, c))
		for i := range 50 {
			create(t, srv, orphaned(fmt.Sprint("many-", i)))
		}
		require.Empty(t, left(t, c))
		b := srv.Backup()
		srv.Restore(b)
		create(t, srv, orphaned("after"))
		require.Empty(t, left(t, c))
	})
}

func TestPodsRunAndTerminate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, c := startMemory(t, apitest.Options{RunPods: true})
		status := func(name string) string {
			synctest.Wait()
			cells := strings.Split(tableOf(t, c, podsPath+"/"+name)[1], "|")
			return strings.Join(cells[1:3], " ")
		}
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"},{"name":"d"}]}}`)
		require.Equal(t, "2/2 Running", status("p"))
		pod := get[corev1.Pod](t, c, podsPath+"/p")
		require.Equal(t, "apitest", pod.Spec.NodeName)
		require.NotEmpty(t, pod.Status.PodIP)

		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"other"},"spec":{"schedulerName":"mine","containers":[{"name":"c"}]}}`)
		require.Equal(t, "0/1 Pending", status("other"))
		c.do(t, http.StatusOK, "PATCH", podsPath+"/other", `{"spec":{"nodeName":"n"}}`, "Content-Type", mergePatch)
		require.Equal(t, "1/1 Running", status("other"))

		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"gate"},"spec":{"readinessGates":[{"conditionType":"x/y"}],"containers":[{"name":"c"}]}}`)
		ready := func() corev1.ConditionStatus {
			synctest.Wait()
			for _, c := range get[corev1.Pod](t, c, podsPath+"/gate").Status.Conditions {
				if c.Type == corev1.PodReady {
					return c.Status
				}
			}
			return ""
		}
		require.Equal(t, corev1.ConditionFalse, ready())
		c.do(t, http.StatusOK, "PATCH", podsPath+"/gate/status", `{"status":{"conditions":[{"type":"x/y","status":"True"}]}}`, "Content-Type", "application/strategic-merge-patch+json")
		require.Equal(t, corev1.ConditionTrue, ready())

		// A watch must report the terminating pod before it is deleted.
		w := c.watch(t, podsPath, jsonType, "resourceVersion", srv.ResourceVersion())
		c.do(t, http.StatusOK, "DELETE", podsPath+"/p", "")
		w.expect("MODIFIED a/p")
		w.expect("MODIFIED a/p")
		w.expect("DELETED a/p")
		c.do(t, http.StatusOK, "DELETE", podsPath+"/gate", `{"gracePeriodSeconds":0}`)
		w.expect("DELETED a/gate")

		// If there are nodes, the pod runs on a node on which it fits.
		create(t, srv, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "small"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "large", Labels: map[string]string{"size": "large"}}})
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"fits"},"spec":{"nodeSelector":{"size":"large"},"containers":[{"name":"c"}]}}`)
		require.Equal(t, "1/1 Running", status("fits"))
		require.Equal(t, "large", get[corev1.Pod](t, c, podsPath+"/fits").Spec.NodeName)
		c.do(t, http.StatusCreated, "POST", podsPath, `{"metadata":{"name":"homeless"},"spec":{"nodeSelector":{"size":"huge"},"containers":[{"name":"c"}]}}`)
		require.Equal(t, "0/1 Pending", status("homeless"))
	})
}
