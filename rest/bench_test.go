package rest

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

const benchPods = 1000

// BenchmarkList reads a list of 1000 pods of about 2 kB from memory. It measures framing, decoding
// and the way through the pipeline, without the network.
func BenchmarkList(b *testing.B) {
	for _, e := range encodings {
		body := podList(b, e, "1", plainPods(benchPods)...)
		b.Run(e.String(), func(b *testing.B) { benchList(b, pods(&Client{}), e, body, nil) })
	}
}

// BenchmarkListUnchanged is like BenchmarkList, for a caller that has all objects already.
func BenchmarkListUnchanged(b *testing.B) {
	for _, e := range encodings {
		body := podList(b, e, "1", plainPods(benchPods)...)
		b.Run(e.String(), func(b *testing.B) {
			benchList(b, pods(&Client{}), e, body, func(types.NamespacedName, string, uint64) bool { return true })
		})
	}
}

// BenchmarkListUnstructured is like BenchmarkList, for unstructured objects, in JSON.
func BenchmarkListUnstructured(b *testing.B) {
	body := podList(b, JSON, "1", plainPods(benchPods)...)
	benchList(b, Must(NewJSONResource[*metav1.Unstructured](&Client{}, podsGVR, ResourceOptions{})), JSON, body, nil)
}

func benchList[T any](b *testing.B, r *Resource[T], e Encoding, body []byte, known decode.KnownFunc) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		x := offline(b.Context(), bytes.NewReader(body))
		stream := r.readList(x, e, known)
		n := 0
		for {
			_, err := stream.Next()
			if err == io.EOF {
				break
			}
			require.NoError(b, err)
			n++
		}
		require.Equal(b, benchPods, n)
		require.NoError(b, stream.Close())
	}
}

// BenchmarkWholeList is the comparison for BenchmarkList: it reads the whole body into memory, and
// decodes it in one call.
func BenchmarkWholeList(b *testing.B) {
	for _, e := range encodings {
		body := podList(b, e, "1", plainPods(benchPods)...)
		b.Run(e.String(), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				data, err := io.ReadAll(bytes.NewReader(body))
				require.NoError(b, err)
				var list corev1.PodList
				if e == Protobuf {
					_, _, data, err = wire.Unwrap(data, false)
					require.NoError(b, err)
					err = list.Unmarshal(data)
				} else {
					err = kjson.UnmarshalCaseSensitivePreserveInts(data, &list)
				}
				require.NoError(b, err)
				require.Len(b, list.Items, benchPods)
			}
		})
	}
}

// BenchmarkFraming measures only framing.
func BenchmarkFraming(b *testing.B) {
	for _, e := range encodings {
		body := podList(b, e, "1", plainPods(benchPods)...)
		b.Run(e.String(), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				c, n := newListFramer(e, 1<<20, nil), 0
				for rest := body; ; n++ {
					f, done, err := c.NextFrame(rest)
					require.NoError(b, err)
					if rest = rest[done:]; f.Data == nil {
						require.Equal(b, io.EOF, c.End(rest))
						break
					}
				}
				require.Equal(b, benchPods, n)
			}
		})
	}
}
