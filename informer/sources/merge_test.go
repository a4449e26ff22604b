package sources_test

import (
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/testing/fakesource"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// quietMerge merges parts without logs.
func quietMerge(parts ...listwatch.Source[*obj]) listwatch.Source[*obj] {
	return sources.MergeWith(sources.MergeOptions{Logger: slog.New(slog.DiscardHandler)}, parts...)
}

// A part may be a merged source itself. Then only its bookmarks show its position, and an event
// with a lower version is not late.
func TestMergeOfMergesLosesNothing(t *testing.T) { // G2
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newFake("10"), newFake("10"), newFake("10")
		inf := newInformer(t, sources.Merge(sources.Merge[*obj](a, b), listwatch.Source[*obj](c)), informer.Options[*obj]{})
		start(t, inf)
		require.NoError(t, inf.WaitForSync(t.Context()))
		b.Events <- ev(listwatch.Added, "b", "20", "x")
		b.Events <- &listwatch.ObjectError{Key: types.NamespacedName{Name: "bad"}, ResourceVersion: "21", Type: listwatch.Added, Err: io.EOF}
		a.Events <- ev(listwatch.Added, "a", "15", "x")
		c.Events <- ev(listwatch.Added, "c", "12", "x")
		synctest.Wait()
		for _, name := range []string{"a", "b", "c"} {
			_, stored := inf.Store().Get(types.NamespacedName{Name: name})
			require.True(t, stored, name)
		}
		require.Equal(t, "12", inf.Store().ResourceVersion(), "the store has the version of c, the slowest part")

		a.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "22", "")}
		b.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "23", "")}
		c.Events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: item("", "24", "")}
		synctest.Wait()
		require.Equal(t, "22", inf.Store().ResourceVersion())
	})
}

func TestMergeOfOneSourceReturnsIt(t *testing.T) {
	t.Parallel()
	_, one := newServer(t, rest.ResourceOptions{})
	require.Same(t, one, sources.Merge(one))
}

// A limit on lists applies to all parts and pages together: no single part reaches it.
func TestMergedListHasOneSizeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		require.NoError(t, server.ListenMemory())
		defer server.Close()
		for pod := range apitest.Pods(40, apitest.PodOptions{}) {
			for _, namespace := range []string{"ns-0", "ns-2"} {
				pod := pod.DeepCopy()
				pod.Namespace = namespace
				_, err := server.Create(pod)
				require.NoError(t, err)
			}
		}
		read := func(bound int64, page int64) (bytes int64, err error) {
			client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{MaxListBytes: bound})
			require.NoError(t, err)
			defer client.Close()
			source := sources.Merge(
				rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: "ns-0"})),
				rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{Namespace: "ns-2"})),
			)
			var read atomic.Int64
			opts := listwatch.ListOptions{Limit: page, Bytes: &read}
			for {
				list, err := source.List(t.Context(), opts)
				require.NoError(t, err)
				for err == nil {
					_, err = list.Next()
				}
				opts.Continue, bytes = list.Meta().Continue, bytes+list.Meta().Bytes
				require.NoError(t, list.Close())
				if err != io.EOF || opts.Continue == "" {
					return bytes, err
				}
			}
		}
		for _, page := range []int64{0, 7} {
			whole, err := read(0, page)
			require.ErrorIs(t, err, io.EOF)
			_, err = read(whole, page)
			require.ErrorIs(t, err, io.EOF, "a list of exactly the permitted size succeeds")
			_, err = read(whole-1, page)
			require.ErrorIs(t, err, listwatch.ErrListTooLarge)
			_, err = read(whole*2/3, page)
			require.ErrorIs(t, err, listwatch.ErrListTooLarge)
		}
	})
}

func TestInvalidMergeOptionsAreAnErrorOfNew(t *testing.T) {
	t.Parallel()
	part := fakesource.New[*int]()
	for _, opts := range []sources.MergeOptions{
		{AtOnce: -1}, {Backoff: reflector.Backoff{Base: -1}}, {Backoff: reflector.Backoff{Max: 30}}, {Backoff: reflector.Backoff{Factor: 0.5}},
	} {
		_, err := informer.New(sources.MergeWith[*int](opts, part, part), informer.Options[*int]{})
		require.ErrorContains(t, err, "MergeOptions", "%+v", opts)
	}
}
