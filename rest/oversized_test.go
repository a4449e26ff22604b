package rest

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
)

// The client skips an object that is too large, and names it in an error, in whatever pieces the
// object arrives. Then the client reads the next objects. TestTooLargeItemIsAnObjectError covers
// both encodings.
func TestOversizedJSONIsSkippedForAnyReadSizes(t *testing.T) { // G11
	t.Parallel()
	const limit = 1 << 10
	filler := strings.Repeat(`\"x\\`, 500) + `"}],"y":["{[\\"]`
	item := func(metadata string) string {
		return `{"metadata":` + metadata + `,"spec":{"a":[{"x":"` + filler + `}}`
	}
	good := `{"metadata":{"name":"good","namespace":"n","resourceVersion":"3"}}`
	for name, test := range map[string]struct {
		large string
		key   types.NamespacedName
	}{
		"a name at the beginning":    {item(`{"name":"large","namespace":"n","resourceVersion":"2"}`), types.NamespacedName{Namespace: "n", Name: "large"}},
		"a name within the limit":    {item(`{"a":"` + strings.Repeat("x", 800) + `","name":"large"}`), types.NamespacedName{Name: "large"}},
		"metadata beyond the limit":  {item(`{"name":"large","z":"` + strings.Repeat("x", 5000) + `"}`), types.NamespacedName{Name: "large"}},
		"a name beyond the limit":    {item(`{"a":"` + strings.Repeat("x", 5000) + `","name":"large"}`), types.NamespacedName{}},
		"a name cut by the limit":    {item(`{"name":"` + strings.Repeat("x", 5000) + `"}`), types.NamespacedName{}},
		"one byte more than allowed": {`{"metadata":{"name":"large"},"x":"` + strings.Repeat("x", limit-35) + `"}`, types.NamespacedName{Name: "large"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Greater(t, len(test.large), limit)
			for _, pace := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader} {
				body := `{"kind":"PodList","items":[` + test.large + `,` + good + `,` + test.large + `],"metadata":{"resourceVersion":"7"}}`
				x := offline(t.Context(), pace(strings.NewReader(body)))
				x.config.maxObjectBytes = limit
				list := pods(&Client{}).readList(x, JSON, nil)
				items, skipped, err := drainList(list)
				require.NoError(t, list.Close())
				require.Equal(t, io.EOF, err)
				require.Equal(t, "7", list.Meta().ResourceVersion)
				require.Len(t, items, 1)
				require.Equal(t, "good", items[0].Key.Name)
				require.Len(t, skipped, 2)
				require.Equal(t, test.key, skipped[0].Key)

				body = fmt.Sprintf(`{"type":"MODIFIED","object":%s}{"type":"ADDED","object":%s} {"type":"DELETED","object":%s}`, test.large, good, test.large)
				x = offline(t.Context(), pace(strings.NewReader(body)))
				x.config.maxObjectBytes = limit
				watch := pods(&Client{}).readWatch(x, JSON, nil, nil)
				events, skippedEvents, err := drainWatch(watch)
				require.NoError(t, watch.Close())
				require.Equal(t, io.EOF, err)
				require.Len(t, events, 1)
				require.Equal(t, "good", events[0].Key.Name)
				require.Len(t, skippedEvents, 2)
				require.Equal(t, listwatch.Modified, skippedEvents[0].Type)
				require.Equal(t, listwatch.Deleted, skippedEvents[1].Type)

				for _, failed := range append(skipped, skippedEvents...) {
					require.ErrorIs(t, failed, ErrTooLarge)
					require.ErrorContains(t, failed, "it has more than 1024 bytes")
					if name != "a name within the limit" {
						// in an event, the name is after the limit
						require.Equal(t, test.key, failed.Key)
					}
				}
			}
		})
	}
}

// The name comes after the limit, so the error says only that some object is missing.
func TestOversizedInitialEventWithoutAName(t *testing.T) {
	t.Parallel()
	body := `{"type":"ADDED","object":{"metadata":{"a":"` + strings.Repeat("x", 5000) + `","name":"large"}}}`
	for _, known := range []decode.KnownFunc{nil, func(types.NamespacedName, string, uint64) bool { return false }} {
		x := offline(t.Context(), strings.NewReader(body))
		x.config.maxObjectBytes = 1 << 10
		stream := pods(&Client{}).readWatch(x, JSON, known, nil)
		_, skipped, err := drainWatch(stream)
		require.NoError(t, stream.Close())
		require.Len(t, skipped, 1)
		require.Empty(t, skipped[0].Key, "the error must have no key, so that a reflector deletes nothing")
		require.Equal(t, io.EOF, err)
	}
}

// If the type of an event is after the limit, the watch ends, because the event could be anything.
func TestOversizedEventOfUnknownType(t *testing.T) {
	t.Parallel()
	x := offline(t.Context(), strings.NewReader(`{"object":{"metadata":{"name":"`+strings.Repeat("x", 5000)+`"}},"type":"ADDED"}`))
	x.config.maxObjectBytes = 1 << 10
	stream := pods(&Client{}).readWatch(x, JSON, nil, nil)
	_, skipped, err := drainWatch(stream)
	require.NoError(t, stream.Close())
	require.Empty(t, skipped)
	require.ErrorIs(t, err, ErrTooLarge)
}

// The client does not keep skipped bytes. Unbalanced brackets in them do not end a list early.
func TestSkippedBytesAreNotRetained(t *testing.T) { // G11
	size := testsize.Scale[int64](16<<20, 6<<20)
	const (
		limit = 256 << 10
		list  = `{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"},"spec":`
		event = `{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":`
	)
	large := func(start, end string) *exchange {
		x := offline(t.Context(), io.MultiReader(strings.NewReader(start), io.LimitReader(endlessReader{}, size), strings.NewReader("{}"+end)))
		x.config.maxObjectBytes = limit
		return x
	}
	readList := func(x *exchange) ([]*listwatch.ObjectError, error) {
		stream := pods(&Client{}).readList(x, JSON, nil)
		defer stream.Close()
		_, skipped, err := drainList(stream)
		return skipped, err
	}
	readWatch := func(x *exchange) ([]*listwatch.ObjectError, error) {
		stream := pods(&Client{}).readWatch(x, JSON, nil, nil)
		defer stream.Close()
		_, skipped, err := drainWatch(stream)
		return skipped, err
	}
	for _, test := range []struct {
		start, end string
		read       func(*exchange) ([]*listwatch.ObjectError, error)
		want       string
	}{
		{list, "}]}", readList, "EOF"},
		{list, "}", readList, "the body ends within the list"},
		{event, "}}", readWatch, "EOF"},
		{event, "}", readWatch, "the body ends within an event"},
	} {
		allocated := allocatedBy(func() {
			skipped, err := test.read(large(test.start, test.end))
			require.Len(t, skipped, 1)
			require.ErrorContains(t, err, test.want)
		})
		require.Less(t, allocated, uint64(8*limit))
	}
}
