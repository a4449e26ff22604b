package apitest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/apitest"
)

func TestDeleteRespondsWithAStatus(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	uid := get[corev1.Pod](t, c, podsPath+"/p").UID
	status := decode[metav1.Status](t, c.do(t, http.StatusOK, "DELETE", podsPath+"/p", `{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}`))
	require.Equal(t, metav1.StatusSuccess, status.Status)
	require.Equal(t, &metav1.StatusDetails{Name: "p", Kind: "pods", UID: uid}, status.Details)
	require.Equal(t, metav1.StatusReasonNotFound, c.fails(t, http.StatusNotFound, "DELETE", podsPath+"/p", "").Reason)
	require.Equal(t, "3", srv.ResourceVersion())
}

func TestDeleteChecksPreconditions(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p"))
	c.fails(t, http.StatusConflict, "DELETE", podsPath+"/p", `{"preconditions":{"uid":"other"}}`)
	c.fails(t, http.StatusConflict, "DELETE", podsPath+"/p", `{"preconditions":{"resourceVersion":"1"}}`)
	c.fails(t, http.StatusBadRequest, "DELETE", podsPath+"/p", `{"preconditions":7}`)
	c.fails(t, http.StatusUnsupportedMediaType, "DELETE", podsPath+"/p", "x", "Content-Type", "text/plain")

	version := "2"
	raw, err := (&metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}).Marshal()
	require.NoError(t, err)
	body, err := (&runtime.Unknown{Raw: raw}).Marshal()
	require.NoError(t, err)
	c.do(t, http.StatusOK, "DELETE", podsPath+"/p", "k8s\x00"+string(body), "Content-Type", protoType)
	require.Error(t, srv.Delete(pods, key("a", "p")))
}

func TestFinalizersDelayTheDeletion(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	held := pod("a", "p")
	held.Finalizers = []string{"example.com/one"}
	create(t, srv, held)
	w := c.watch(t, "/api/v1/pods", jsonType, "resourceVersion", "1")
	w.expect("ADDED a/p")

	going := decode[corev1.Pod](t, c.do(t, http.StatusOK, "DELETE", podsPath+"/p", ""))
	require.NotNil(t, going.DeletionTimestamp)
	require.Equal(t, "3", going.ResourceVersion)
	require.Equal(t, going.DeletionTimestamp, w.expect("MODIFIED a/p").Object.DeletionTimestamp)
	require.NoError(t, srv.Delete(pods, key("a", "p")), "another delete must succeed and do nothing")
	require.Equal(t, "3", srv.ResourceVersion())

	refused := c.fails(t, http.StatusUnprocessableEntity, "PATCH", podsPath+"/p", `{"metadata":{"finalizers":["example.com/one","example.com/two"]}}`, "Content-Type", mergePatch)
	require.Contains(t, refused.Message, `no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/two"}`)

	gone := decode[corev1.Pod](t, c.do(t, http.StatusOK, "PATCH", podsPath+"/p", `{"metadata":{"finalizers":null}}`, "Content-Type", mergePatch))
	require.Equal(t, "4", gone.ResourceVersion)
	require.Equal(t, "4", w.expect("DELETED a/p").Object.ResourceVersion)
	c.fails(t, http.StatusNotFound, "GET", podsPath+"/p", "")
}

func TestDeleteCollectionDeletesWhatIsSelected(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{})
	create(t, srv, pod("a", "p", "app", "web"), pod("a", "q", "app", "db"), pod("b", "p", "app", "web"))
	deleted := decode[corev1.PodList](t, c.do(t, http.StatusOK, "DELETE", podsPath+"?labelSelector=app%3Dweb", ""))
	require.Equal(t, []string{"a/p"}, names(deleted.Items))
	require.Equal(t, []string{"a/q", "b/p"}, names(get[corev1.PodList](t, c, "/api/v1/pods").Items))
	require.Equal(t, "5", srv.ResourceVersion())
}
