package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
)

// The observer gets the verb and the resource, because with URLs as labels, a metric would have one
// series for each object and version.
func TestObserverGetsVerbResourceAndSubresource(t *testing.T) {
	t.Parallel()
	server := apitest.Start(t, apitest.Options{})
	var mu sync.Mutex // guards following
	var answered, ended, retried []string
	note := func(list *[]string, about RequestInfo) {
		mu.Lock()
		defer mu.Unlock()
		*list = append(*list, fmt.Sprintf("%s %s/%s %s", about.Verb, about.Resource.GroupVersion(), about.Resource.Resource, about.Subresource))
	}
	client, err := NewClient(Config{Host: server.URL()}, Options{Observer: &Observer{
		OnResponse:  func(a ResponseInfo) { note(&answered, a.RequestInfo) },
		OnRetry:     func(r RetryInfo) { note(&retried, r.RequestInfo) },
		OnStreamEnd: func(e StreamInfo) { note(&ended, e.RequestInfo) },
	}})
	require.NoError(t, err)
	defer client.Close()
	pods := Must(For[*corev1.Pod](client, ResourceOptions{Namespace: "home"}))
	ctx := t.Context()
	key := types.NamespacedName{Namespace: "home", Name: "a"}

	pod, err := pods.Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = pods.Get(ctx, key, metav1.GetOptions{})
	require.NoError(t, err)
	_, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	pod.ResourceVersion = ""
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = pods.Patch(ctx, key, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	list, err := pods.List(ctx, listwatch.ListOptions{})
	require.NoError(t, err)
	for err == nil {
		_, err = list.Next()
	}
	require.Equal(t, io.EOF, err)
	require.NoError(t, list.Close())
	watching, cancel := context.WithCancel(ctx)
	watch, err := pods.Watch(watching, listwatch.WatchOptions{})
	require.NoError(t, err)
	cancel()
	require.NoError(t, watch.Close())
	require.NoError(t, pods.DeleteCollection(ctx, "", metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "no=thing"}))
	server.Inject(apitest.Fault{Verb: "delete", Times: 1, Action: apitest.Code(http.StatusTooManyRequests, time.Second)})
	require.NoError(t, pods.Delete(ctx, key, metav1.DeleteOptions{}))
	_, err = client.Raw(ctx, http.MethodGet, "/version", RawOptions{})
	_ = err // the error does not matter

	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{
		"create v1/pods ", "get v1/pods ", "update v1/pods ", "update v1/pods status", "patch v1/pods ",
		"list v1/pods ", "watch v1/pods ", "deletecollection v1/pods ", "delete v1/pods ", "delete v1/pods ", "raw / ",
	}, answered)
	require.Equal(t, []string{"list v1/pods ", "watch v1/pods "}, ended)
	require.Equal(t, []string{"delete v1/pods "}, retried)
}
