package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	kjsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

var encodings = []Encoding{JSON, Protobuf}

// cannedResponse is a handler with the same response to every request, for tests that do not depend
// on the network.
type cannedResponse struct {
	contentType string
	body        io.Reader
}

func (a cannedResponse) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", a.contentType)
	_, _ = io.Copy(w, a.body)
}

// serve starts a server and a client for it; both end with the test.
func serve(t testing.TB, handler http.Handler, opts Options) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := NewClient(Config{Host: server.URL}, opts)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// serveBytes is like serve, for a server with the same response to every request.
func serveBytes(t testing.TB, e Encoding, body []byte) *Client {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType(e))
		_, _ = w.Write(body)
	}), Options{})
}

func pods(c *Client) *Resource[*corev1.Pod] {
	return Must(NewResource[*corev1.Pod](c, podsGVR, ResourceOptions{}))
}

// offline returns an exchange whose response body is r.
func offline(ctx context.Context, r io.Reader) *exchange {
	x := &exchange{
		config: &decodeConfig{maxObjectBytes: 16 << 20, maxListBytes: 1 << 30}, method: "GET", address: url.URL{Scheme: "http", Host: "offline", Path: "/"},
		ctx: ctx, response: &http.Response{Body: io.NopCloser(r)},
	}
	x.requestCtx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// drainList reads a list to its end.
func drainList[T any](stream listwatch.ListStream[T]) (items []listwatch.Item[T], skipped []*listwatch.ObjectError, err error) {
	for {
		item, err := stream.Next()
		if failed, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			skipped = append(skipped, failed)
			continue
		}
		if err != nil {
			return items, skipped, err
		}
		items = append(items, item)
	}
}

// drainWatch reads a watch to its end.
func drainWatch[T any](stream listwatch.WatchStream[T]) (events []listwatch.Event[T], skipped []*listwatch.ObjectError, err error) {
	for {
		event, err := stream.Next()
		if failed, ok := errors.AsType[*listwatch.ObjectError](err); ok {
			skipped = append(skipped, failed)
			continue
		}
		if err != nil {
			return events, skipped, err
		}
		events = append(events, event)
	}
}

// apimachineryDecode decodes an object with the serializers of apimachinery.
func apimachineryDecode(e Encoding, body []byte, into kruntime.Object) error {
	scheme := kruntime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return err
	}
	var s kruntime.Serializer = kjsonserializer.NewSerializerWithOptions(kjsonserializer.DefaultMetaFactory, scheme, scheme, kjsonserializer.SerializerOptions{})
	if e == Protobuf {
		s = protobuf.NewSerializer(scheme, scheme)
	}
	_, _, err := s.Decode(body, nil, into)
	return err
}

// allocatedBy returns how many bytes f allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// decodeItem decodes one object of a list or a watch.
func (r *streamDecoder[T]) decodeItem(x *exchange, e Encoding, f wire.Frame, list *wire.Envelope, known decode.KnownFunc, held decode.HeldFunc) (listwatch.Item[T], error) {
	response := x.decoding(e, held)
	return r.items.Decode(&response, f, list, known)
}
