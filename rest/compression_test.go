package rest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
)

// compressed returns data in gzip, as the given number of gzip members.
func compressed(t testing.TB, data []byte, members int) []byte {
	var out bytes.Buffer
	for i := range members {
		w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		require.NoError(t, err)
		_, err = w.Write(data[i*len(data)/members : (i+1)*len(data)/members])
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return out.Bytes()
}

// gzipped responds to every request with a body that claims to be in gzip.
func gzipped(e Encoding, code int, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(code)
		_, _ = w.Write(body)
	}
}

// serveCompressed is like serve, for a client that requests compressed lists.
func serveCompressed(t testing.TB, handler http.Handler, opts Options) *Client {
	client := serve(t, handler, opts)
	client.compress = true
	return client
}

func TestCompressionIsRequestedUnlessLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"10.0.0.1:6443": true, "kube.example": true, "[fd00::1]:443": true,
		"localhost:6443": false, "127.0.0.1:6443": false, "127.1.2.3": false, "[::1]:6443": false,
	} {
		for compression, want := range map[Compression]bool{CompressAutomatic: want, CompressLists: true, CompressNothing: false} {
			client, err := NewClient(Config{Host: host, Compression: compression}, Options{})
			require.NoError(t, err)
			require.Equal(t, want, client.compress, "%s %d", host, compression)
			client.Close()
		}
	}
}

func TestOnlyListsRequestCompression(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := map[string]bool{}
	client := serveCompressed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Accept-Encoding")] = true
		w.Header().Set("Content-Type", mediaTypeJSON)
		_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`))
	}), Options{})
	key := types.NamespacedName{Namespace: "ns", Name: "a"}
	for _, opts := range []listwatch.WatchOptions{{}, {SendInitialEvents: true}} {
		stream, err := pods(client).Watch(t.Context(), opts)
		require.NoError(t, err)
		require.NoError(t, stream.Close())
	}
	_ = listErr(t.Context(), pods(client))
	_, err := pods(client).Get(t.Context(), key, metav1.GetOptions{})
	require.NoError(t, err)
	_, err = pods(client).Create(t.Context(), &plainPods(1)[0], metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.Raw(t.Context(), http.MethodGet, "/raw", RawOptions{})
	require.NoError(t, err)
	compressing := 0
	for request := range asked {
		if strings.HasSuffix(request, " gzip") {
			compressing++
		}
	}
	require.Len(t, asked, 6)
	require.Equal(t, 1, compressing)
	require.Contains(t, asked, "GET /api/v1/pods gzip")
}

func TestCompressedListEqualsUncompressedList(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "7", plainPods(testsize.Scale(300, 60))...)
		stream, err := pods(serveBytes(t, e, body)).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		want, _, err := drainList(stream)
		require.Equal(t, io.EOF, err)
		require.NoError(t, stream.Close())
		for _, members := range testsize.Sample([]int{1, 2, 7, 301}, 2) {
			client := serveCompressed(t, gzipped(e, http.StatusOK, compressed(t, body, members)), Options{})
			stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			got, _, err := drainList(stream)
			require.Equal(t, io.EOF, err)
			require.Equal(t, want, got)
			require.Equal(t, "7", stream.Meta().ResourceVersion)
			require.NoError(t, stream.Close())
			if members == 1 {
				require.Less(t, client.Stats().BytesReceived, uint64(len(body)/4))
			}
		}
	}
}

func TestTruncatedCompressedListIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := compressed(t, podList(t, e, "7", plainPods(50)...), 3)
		at := 0
		client := serveCompressed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			gzipped(e, http.StatusOK, body[:at])(w, r)
		}), Options{})
		for ; at < len(body); at += 1 + at/10 {
			err := listErr(t.Context(), pods(client))
			if at == 0 {
				require.ErrorIs(t, err, ErrMalformed)
			} else {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes of %d", at, len(body))
			}
		}
	}
}

func TestCorruptCompressedListIsAnError(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		plain := podList(t, e, "7", plainPods(20)...)
		body := compressed(t, plain, 2)
		at := 0
		client := serveCompressed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			broken := bytes.Clone(body)
			broken[at] ^= 1 << 3
			gzipped(e, http.StatusOK, broken)(w, r)
		}), Options{})
		harmless := 0
		for ; at < len(body); at += 1 + len(body)/testsize.Scale(100, 40) {
			stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
			require.NoError(t, err)
			_, _, err = drainList(stream) // undecodable objects do not end the list
			require.NoError(t, stream.Close())
			if err == io.EOF {
				harmless++ // harmless changes are in the header of a member: time, operating system
				continue
			}
			require.ErrorIs(t, err, ErrMalformed, "byte %d", at)
		}
		require.Less(t, harmless, 5)

		client = serveCompressed(t, gzipped(e, http.StatusOK, append(bytes.Clone(body), "and more, which is not gzip"...)), Options{})
		err := listErr(t.Context(), pods(client))
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, "GET "+client.base.String()+"/api/v1/pods: malformed response: the body cannot be decompressed: gzip: invalid header")
	}
}

func TestBoundsHoldAfterDecompression(t *testing.T) {
	for _, e := range encodings {
		pod := plainPods(1)
		pod[0].Annotations = map[string]string{"a": strings.Repeat("a", testsize.Scale(16<<20, 6<<20))}
		bomb := compressed(t, podList(t, e, "7", pod...), 1)
		require.Less(t, len(bomb), 256<<10)
		client := serveCompressed(t, gzipped(e, http.StatusOK, bomb), Options{MaxObjectBytes: 256 << 10})
		var err error
		require.Less(t, allocatedBy(func() { err = listErr(t.Context(), pods(client)) }), uint64(4<<20))
		require.ErrorIs(t, err, ErrTooLarge)
	}
}

func TestFailureMayBeCompressed(t *testing.T) {
	t.Parallel()
	status := []byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`)
	client := serveCompressed(t, gzipped(JSON, http.StatusForbidden, compressed(t, status, 1)), Options{})
	err := listErr(t.Context(), pods(client))
	require.True(t, apierrors.IsForbidden(err))
	require.ErrorContains(t, err, ": no")
}

func TestUnrequestedCompressionIsRefused(t *testing.T) {
	t.Parallel()
	client := serve(t, gzipped(JSON, http.StatusOK, compressed(t, podList(t, JSON, "7"), 1)), Options{})
	err := listErr(t.Context(), pods(client))
	// A watch must not be compressed, because a decompressor could hold back events.
	_, watchErr := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
	for _, err := range []error{err, watchErr} {
		require.ErrorIs(t, err, ErrMalformed)
		require.ErrorContains(t, err, `content encoding "gzip", which was not requested`)
	}
}

func TestCancelEndsACompressedList(t *testing.T) {
	t.Parallel()
	body := compressed(t, podList(t, JSON, "7", plainPods(1000)...), 1)
	client := serveCompressed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaTypeJSON)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := pods(client).List(ctx, listwatch.ListOptions{})
	require.NoError(t, err)
	_, err = stream.Next()
	require.NoError(t, err, "Next must return an object that has arrived")
	cancel()
	for err == nil {
		_, err = stream.Next()
	}
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
	require.NoError(t, stream.Close())
}

// The default of Compression is based on this benchmark. It measures a list of pods over loopback,
// with and without compression by the server.
func BenchmarkCompressedList(b *testing.B) {
	for _, e := range encodings {
		body := podList(b, e, "7", plainPods(5000)...)
		for _, compress := range []bool{false, true} {
			b.Run(e.String()+"/compressed="+strconv.FormatBool(compress), func(b *testing.B) {
				client := serve(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", contentType(e))
					if !compress {
						_, _ = w.Write(body)
						return
					}
					w.Header().Set("Content-Encoding", "gzip")
					out, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
					_, _ = out.Write(body)
					_ = out.Close()
				}), Options{})
				client.compress = compress
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if err := listErr(b.Context(), pods(client)); err != io.EOF {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestG11_DecompressionBombIsRequestedUncompressed: 14 kB of gzip can become 14 MB of containers.
// The client stops reading such a list. Because an honest server may have such a list, the client
// requests it again without compression.
func TestG11_DecompressionBombIsRequestedUncompressed(t *testing.T) {
	for _, e := range encodings {
		zeros := &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.ConfigMap{
			{ObjectMeta: metav1.ObjectMeta{Name: "zeros"}, Data: map[string]string{"a": strings.Repeat("0", 4<<20)}},
		}}
		body := encode(t, e, "ConfigMapList", zeros)
		small := compressed(t, body, 1)
		require.Less(t, len(small)*100, len(body))
		var asked []string
		client := serveCompressed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Header.Get("Accept-Encoding"))
			w.Header().Set("Content-Type", contentType(e))
			if r.Header.Get("Accept-Encoding") == "gzip" || r.URL.Query().Get("limit") != "" {
				w.Header().Set("Content-Encoding", "gzip")
				_, _ = w.Write(small)
				return
			}
			_, _ = w.Write(body)
		}), Options{})
		maps := Must(For[*corev1.ConfigMap](client, ResourceOptions{}))
		took := allocatedBy(func() {
			err := listErr(t.Context(), maps)
			require.ErrorContains(t, err, "rest.Options.MaxCompression")
			require.NotErrorIs(t, err, listwatch.ErrListTooLarge, "the error must not say that the list is too large, because the next attempt may succeed")
		})
		require.Less(t, took, uint64(len(body)))
		require.Equal(t, io.EOF, listErr(t.Context(), maps))
		require.Equal(t, []string{"gzip", "identity"}, asked)
		// If the server still compresses the list, the client refuses it.
		require.ErrorContains(t, listErrWith(t.Context(), maps, listwatch.ListOptions{Limit: 1}), `content encoding "gzip", which was not requested`)
		// Lists of other resources are still compressed.
		asked = nil
		_ = listErr(t.Context(), pods(client))
		require.Equal(t, []string{"gzip"}, asked)
	}
}
