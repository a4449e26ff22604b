package reflector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// G7, G11: no part of a list that is too large reaches the sink, and the reflector rarely requests
// the list. The test covers both encodings, lists with and without pages, and streaming lists. When
// the list has become smaller, the reflector recovers.
func TestNothingOfAListThatIsTooLargeReachesTheSink(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for _, encoding := range []rest.Encoding{rest.JSON, rest.Protobuf} {
			for _, pageSize := range []int64{-1, 7} {
				t.Run(fmt.Sprint(mode, encoding, pageSize), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { shrink(t, mode, encoding, pageSize) })
				})
			}
		}
	}
}

func shrink(t *testing.T, mode reflector.ListMode, encoding rest.Encoding, pageSize int64) {
	server := apitest.New(apitest.Options{PagedCacheLists: true})
	defer server.Close()
	require.NoError(t, server.ListenMemory())
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{MaxListBytes: 40 << 10})
	require.NoError(t, err)
	defer client.Close()
	const all, few = 100, 10
	current := content{}
	name := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: "ns", Name: fmt.Sprintf("cm-%03d", i)}
	}
	for i := range all {
		made, err := server.Create(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: name(i).Namespace, Name: name(i).Name},
			Data:       map[string]string{"large": strings.Repeat("x", 1000)},
		})
		require.NoError(t, err)
		current[name(i)] = made.GetResourceVersion()
	}

	sink := &checkingSink{t: t, history: &history{versions: map[int]content{}}}
	var errs []reflector.Error
	r, err := reflector.New(rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{Encoding: encoding})), sink,
		reflector.Options{ListMode: mode, PageSize: pageSize, OnError: func(e reflector.Error) { errs = append(errs, e) }})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(t, r.Run(ctx))
	require.Nil(t, sink.content, "the sink must not be called")
	require.Contains(t, []int{3, 4}, len(errs))
	for _, e := range errs {
		require.ErrorIs(t, e, listwatch.ErrListTooLarge)
		require.GreaterOrEqual(t, e.RetryIn, 150*time.Second)
	}
	require.Contains(t, errs[0].Error(), "GET http://apitest/api/v1/configmaps?")
	require.Contains(t, errs[0].Error(), "list too large: the pages have more than the 40960 bytes that rest.Options.MaxListBytes allows")
	require.Equal(t, mode, r.Status().ListMode)

	for i := few; i < all; i++ {
		require.NoError(t, server.Delete(configMaps, name(i)))
		delete(current, name(i))
	}
	sink.history.versions[version(t, server)] = current
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.NoError(t, r.Run(ctx))
	require.Equal(t, current, sink.content)
}
