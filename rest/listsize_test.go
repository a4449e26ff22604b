package rest

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/wire"
)

func TestListOfExactlyMaxListBytes(t *testing.T) { // G11
	t.Parallel()
	n := testsize.Scale(300, 60)
	for _, e := range encodings {
		body := podList(t, e, "7", plainPods(n)...)
		for name, r := range map[string]func() io.Reader{
			"at once":      func() io.Reader { return bytes.NewReader(body) },
			"byte by byte": func() io.Reader { return iotest.OneByteReader(bytes.NewReader(body)) },
		} {
			for over := range 2 {
				x := offline(t.Context(), r())
				x.config.maxListBytes, x.maxBytes, x.listBytes = int64(len(body)-over), int64(len(body)-over), new(atomic.Int64)
				stream := pods(&Client{}).readList(x, e, nil)
				items, skipped, err := drainList(stream)
				require.NoError(t, stream.Close())
				require.Empty(t, skipped)
				if over == 0 {
					require.Equal(t, io.EOF, err, "%s %s", e, name)
					require.Len(t, items, n)
					require.EqualValues(t, len(body), stream.Meta().Bytes)
				} else {
					require.ErrorIs(t, err, listwatch.ErrListTooLarge, "%s %s", e, name)
				}
			}
		}
	}
}

// A list can have a few bytes on the wire, and a hundred thousand times as many after
// decompression. The client stops reading at the limit, and does not keep the bytes.
func TestDecompressedListIsBounded(t *testing.T) { // G11
	most, all := testsize.Scale(2<<20, 1<<20), testsize.Scale(4_000, 2_000)
	for _, e := range encodings {
		body := podList(t, e, "7", plainPods(all)...) // much more than the limit
		require.Greater(t, len(body), most*3/2)
		bomb := compressed(t, body, 3)
		client := serveCompressed(t, gzipped(e, http.StatusOK, bomb), Options{MaxListBytes: int64(most)})
		// the least of three attempts: under the race detector, pools drop buffers at random
		least := uint64(math.MaxUint64)
		for range 3 {
			stream, err := pods(client).List(t.Context(), listwatch.ListOptions{Known: allKnown})
			require.NoError(t, err)
			least = min(least, allocatedBy(func() {
				n := 0
				for err == nil {
					_, err = stream.Next()
					n++
				}
				require.Less(t, n, all)
			}))
			require.NoError(t, stream.Close())
			require.ErrorIs(t, err, listwatch.ErrListTooLarge)
			require.ErrorContains(t, err, "GET "+client.base.String()+"/api/v1/pods: list too large: the pages have more than the "+strconv.Itoa(most)+" bytes that rest.Options.MaxListBytes allows; raise this limit, or request less: ")
			_, again := stream.Next()
			require.Equal(t, err, again)
		}
		require.Less(t, least, uint64(most))
	}
}

// A field of a list without items may claim an arbitrary length.
func TestListWithoutItemsIsBounded(t *testing.T) { // G11
	const most = 1 << 20
	for e, start := range map[Encoding]string{
		// raw, with an unknown field
		Protobuf: wire.Magic + "\x12\xff\xff\xff\xff\xff\xff\x7f" + "\x7a\xff\xff\xff\xff\xff\xff\x3f",
		JSON:     `{"kind":"PodList","items":[`,
	} {
		body := io.MultiReader(strings.NewReader(start), endlessReader{})
		x := offline(t.Context(), body)
		x.config.maxListBytes, x.maxBytes, x.listBytes = most, most, new(atomic.Int64)
		stream := pods(&Client{}).readList(x, e, nil)
		_, _, err := drainList(stream)
		require.NoError(t, stream.Close())
		require.ErrorIs(t, err, listwatch.ErrListTooLarge, "%s", e)
	}
}

// The client keeps the other fields of a list in memory, so their limit counts from the first byte.
func TestOtherListFieldsAreBounded(t *testing.T) { // G11
	field := `,"x":"` + strings.Repeat("x", 64<<10) + `"`
	for name, body := range map[string]*repeatingReader{
		"a field that never ends": {`{"kind":"PodList","items":[],"x":"`, strings.Repeat("x", 64<<10)},
		"a key that never ends":   {`{"kind":"PodList","items":[],"`, strings.Repeat("x", 64<<10)},
		"fields without an end":   {`{"kind":"PodList","items":[]`, field},
		"metadata":                {`{"kind":"PodList","items":[],"metadata":{"a":1`, field},
	} {
		stream := pods(&Client{}).readList(offline(t.Context(), body), JSON, nil)
		_, _, err := drainList(stream)
		require.NoError(t, stream.Close())
		require.ErrorIs(t, err, ErrTooLarge, name)
		require.ErrorContains(t, err, "the fields beside the items have more than 1048576 bytes", name)
		require.Less(t, stream.Meta().Bytes, int64(4<<20), name)
	}
}

// repeatingReader is a body that starts with left and then repeats text.
type repeatingReader struct{ left, text string }

func (r *repeatingReader) Read(p []byte) (int, error) {
	if r.left == "" {
		r.left = r.text
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// endlessReader is an endless body of spaces.
type endlessReader struct{}

func (endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestPagesOfAListAreBoundedTogether(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "7", plainPods(10)...)
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType(e))
			_, _ = w.Write(body)
		}), Options{MaxListBytes: int64(2 * len(body))})
		for pages, want := range []error{io.EOF, io.EOF, listwatch.ErrListTooLarge, listwatch.ErrListTooLarge} {
			var before atomic.Int64
			before.Store(int64(pages * len(body)))
			err := listErrWith(t.Context(), pods(client), listwatch.ListOptions{Bytes: &before})
			require.ErrorIs(t, err, want, "%s: %d pages before", e, pages)
		}
	}
}

// The objects of a streaming list are limited up to its end marker, and not after it.
func TestInitialEventsAreBounded(t *testing.T) { // G11
	t.Parallel()
	const n = 100
	for _, e := range encodings {
		var initial, later []byte
		for i := range n {
			pod := plainPod(i)
			initial = append(initial, event(t, e, "ADDED", "Pod", &pod)...)
			later = append(later, event(t, e, "MODIFIED", "Pod", &pod)...)
		}
		marker := event(t, e, "BOOKMARK", "Pod", bookmark("9", map[string]string{"k8s.io/initial-events-end": "true"}))
		body := slices.Concat(initial, marker, later, later)
		for name, pace := range map[string]func(io.Reader) io.Reader{
			"at once":      func(r io.Reader) io.Reader { return r },
			"byte by byte": iotest.OneByteReader,
		} {
			for most, enough := range map[int]bool{len(initial): true, len(initial) / 2: false} {
				x := offline(t.Context(), pace(bytes.NewReader(body)))
				x.config.maxListBytes = int64(most)
				stream := pods(&Client{}).readWatch(x, e, nil, nil)
				stream.initial, stream.initialBytes = true, new(atomic.Int64)
				events, skipped, err := drainWatch(stream)
				require.NoError(t, stream.Close())
				require.Empty(t, skipped)
				if enough {
					require.Equal(t, io.EOF, err, "%s %s", e, name)
					require.Len(t, events, 3*n+1)
					continue
				}
				require.ErrorIs(t, err, listwatch.ErrListTooLarge, "%s %s", e, name)
				require.Less(t, len(events), n, "%s %s: less than all of them", e, name)
				_, again := stream.Next()
				require.Equal(t, err, again)
			}
		}
	}
}

func allKnown(types.NamespacedName, string, uint64) bool { return true }
