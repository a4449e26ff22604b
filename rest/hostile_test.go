package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
	"github.com/kinform/kinform/rest/sharing"
)

var hostileFor = flag.Duration("hostile", 3*time.Second, "how long a hostile server answers")

// hostileHeap is how many bytes may be live at any time: for each concurrent caller, a few of the
// largest objects that the options below allow, and the test's own objects.
const hostileHeap = 512 << 20

// TestG11_HostileServer sends random responses to lists, watches, verbs and discovery: truncated,
// too large, too deep, of another kind or type, slow, repeated, a decompression bomb, or nonsense.
// Nothing may panic, memory is bounded, every call ends in time, and every failure is an error that
// names its request.
func TestG11_HostileServer(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	server := httptest.NewUnstartedServer(&hostile{seed: seed})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	defer server.Close()
	client, err := rest.NewClient(rest.Config{Host: server.URL, Compression: rest.CompressLists, HeaderTimeout: 2 * time.Second}, rest.Options{
		MaxObjectBytes: 1 << 20, MaxListBytes: 32 << 20, MaxObjectMemory: 32 << 20, MaxSilence: 200 * time.Millisecond, MaxRetries: -1,
	})
	require.NoError(t, err)
	defer client.Close()

	ctx, cancel := context.WithTimeout(t.Context(), testsize.Scale(*hostileFor, min(*hostileFor, time.Second)))
	defer cancel()
	var asked, failed atomic.Int64
	var group sync.WaitGroup
	shared := sharing.New(sharing.Options{MaxBytes: 4 << 20})
	gvr := corev1.SchemeGroupVersion.WithResource("pods")
	foos := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}
	for _, try := range []func() error{
		readAll(ctx, rest.Must(rest.NewResource[*corev1.Pod](client, gvr, rest.ResourceOptions{}))),
		readAll(ctx, rest.Must(rest.NewResource[*corev1.Pod](client, gvr, rest.ResourceOptions{
			Decoder: shared, Project: rest.Omit{ManagedFields: true},
		}))),
		readAll(ctx, rest.Must(rest.NewResource[*corev1.Pod](client, gvr, rest.ResourceOptions{Unshared: true}))),
		readAll(ctx, rest.Must(rest.NewResource[*metav1.PartialObjectMetadata](client, gvr, rest.ResourceOptions{}))),
		readAll(ctx, rest.Must(rest.NewJSONResource[*unstructured.Unstructured](client, foos, rest.ResourceOptions{Kind: "Foo"}))),
		func() error {
			_, err := discovery.Resources(ctx, client)
			return err
		},
	} {
		for range 4 {
			group.Go(func() {
				for ctx.Err() == nil {
					start := time.Now()
					err := try()
					asked.Add(1)
					if took := time.Since(start); took > 60*time.Second {
						t.Errorf("every call must end within 60 s, but one took %s: %v", took, err)
					}
					if err == nil {
						continue
					}
					failed.Add(1)
					if text := err.Error(); len(text) > 20_000 || !strings.Contains(text, "/api") {
						t.Errorf("an error must name its request and be short, but one has %d bytes: %.300s", len(text), text)
					}
				}
			})
		}
	}
	// The measured heap includes uncollected garbage, so keep the garbage small.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	most := watchHeap(ctx)
	group.Wait()
	t.Logf("%d calls, %d of them failed, at most %d MB of heap", asked.Load(), failed.Load(), most()>>20)
	require.NotZero(t, failed.Load())
	require.Less(t, most(), uint64(hostileHeap))
}

// watchHeap measures the live heap, including uncollected garbage, until ctx ends. most returns the
// largest value.
func watchHeap(ctx context.Context) (most func() uint64) {
	var max atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for ctx.Err() == nil {
			metrics.Read(sample)
			if now := sample[0].Value.Uint64(); now > max.Load() {
				max.Store(now)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() uint64 {
		<-done
		return max.Load()
	}
}

// readAll returns a function that calls every reading method of a Resource once.
func readAll[T any](ctx context.Context, r *rest.Resource[T]) func() error {
	return func() error {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		var errs []error
		note := func(err error) {
			if err != nil && err != io.EOF && ctx.Err() == nil {
				errs = append(errs, err)
			}
		}
		list, err := r.List(ctx, listwatch.ListOptions{})
		note(err)
		if err == nil {
			note(drain(func() error { _, err := list.Next(); return err }))
			_ = list.Close()
		}
		watch, err := r.Watch(ctx, listwatch.WatchOptions{SendInitialEvents: rand.N(2) == 0})
		note(err)
		if err == nil {
			// A watch may be silent between two events, so the test has to end it.
			timer := time.AfterFunc(300*time.Millisecond, cancel)
			note(drain(func() error { _, err := watch.Next(); return err }))
			timer.Stop()
			_ = watch.Close()
		}
		_, err = r.Get(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, metav1.GetOptions{})
		note(err)
		note(r.Delete(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, metav1.DeleteOptions{}))
		if len(errs) == 0 {
			return nil
		}
		return errs[rand.N(len(errs))]
	}
}

// drain calls the function next until it returns an error that is not about one object. It returns
// this error, or the last object error if the stream ended in order.
func drain(next func() error) (last error) {
	for {
		err := next()
		failed, ok := errors.AsType[*listwatch.ObjectError](err)
		switch {
		case ok:
			last = failed
		case err == io.EOF:
			return last
		case err != nil:
			return err
		}
	}
}

// hostile is a server with random responses.
type hostile struct {
	seed  uint64
	count atomic.Uint64
}

func (h *hostile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The server notices the end of a connection only after it has read the body.
	_, _ = io.Copy(io.Discard, r.Body)
	random := rand.New(rand.NewPCG(h.seed, h.count.Add(1)))
	protobuf := strings.Contains(r.Header.Get("Accept"), "protobuf") && random.IntN(2) == 0
	body := hostileBody(random, protobuf, r)
	contentType := "application/json"
	if protobuf {
		contentType = "application/vnd.kubernetes.protobuf"
	}
	switch random.IntN(12) {
	case 0:
		contentType = []string{"text/html", "application/yaml", "", ";;;", strings.Repeat("x/y", 10_000)}[random.IntN(5)]
	case 1:
		for i := range 1 + random.IntN(300) {
			w.Header().Add("Warning", fmt.Sprintf(`299 - "%d %s"`, i, strings.Repeat("w", random.IntN(900))))
		}
	case 2:
		w.Header().Set("X-Heavy", strings.Repeat("h", 1<<random.IntN(22)))
	case 3:
		w.Header().Set("Retry-After", "999999999999")
	case 4:
		body = body[:random.IntN(len(body)+1)] // truncated
	case 5:
		body = append(body, body...)
	case 6:
		for range 1 + random.IntN(5) {
			if len(body) > 0 {
				body[random.IntN(len(body))] = byte(random.Uint32())
			}
		}
	}
	if contentType != "" {
		w.Header().Set("Content-Type", contentType)
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && random.IntN(2) == 0 || random.IntN(30) == 0 {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(body)
		_ = z.Close()
		body = out.Bytes()
		if random.IntN(5) == 0 {
			body = body[:random.IntN(len(body))]
		}
		w.Header().Set("Content-Encoding", "gzip")
	}
	if random.IntN(8) == 0 {
		w.WriteHeader([]int{201, 204, 301, 401, 403, 404, 409, 410, 429, 500, 503, 504}[random.IntN(12)])
	}
	switch random.IntN(10) {
	case 0: // slowly
		for len(body) > 0 {
			n := min(len(body), 1+random.IntN(4000))
			if _, err := w.Write(body[:n]); err != nil || r.Context().Err() != nil {
				return
			}
			if body = body[n:]; random.IntN(200) == 0 {
				return
			}
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
			if random.IntN(50) == 0 {
				return
			}
		}
	case 1: // in part, and then silence
		_, _ = w.Write(body[:random.IntN(len(body)+1)])
		_ = http.NewResponseController(w).Flush()
		waitForClient(r)
	case 2: // with a connection that ends
		_, _ = w.Write(body)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case 3: // with invalid chunks
		if conn, out, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", "application/json")
			_, _ = fmt.Fprintf(out, "%x\r\n%s\r\nfffffffffffffffffffff\r\n", min(len(body), 500), body[:min(len(body), 500)])
			_ = out.Flush()
			_ = conn.Close()
		}
	default:
		_, _ = w.Write(body)
	}
}

// waitForClient waits until the client has closed the connection, but not for ever. After a
// response without a body, such as 204, the client sends its next request on the same connection.
// At the first byte of this request, net/http stops watching the connection. Then the server does
// not notice the end of the connection, the context never ends, and Close of the server waits for
// the handler.
func waitForClient(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(2 * time.Second):
	}
}

// The client has closed the connection, and the server cannot notice it. Without the limit in
// waitForClient, Close of the server would hang.
func TestHostileServerEnds(t *testing.T) {
	var began atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began.Add(1)
		w.WriteHeader(http.StatusNoContent)
		_ = http.NewResponseController(w).Flush()
		waitForClient(r)
	}))
	client, err := rest.NewClient(rest.Config{Host: server.URL}, rest.Options{MaxRetries: -1})
	require.NoError(t, err)
	_, err = client.Raw(t.Context(), "GET", "/api", rest.RawOptions{})
	require.NoError(t, err, "the client must accept the complete response")
	soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = client.Raw(soon, "GET", "/api", rest.RawOptions{})
	require.Error(t, err)
	require.EqualValues(t, 1, began.Load(), "the handler must not get the second request, because the first one blocks the connection")
	client.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Close()
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		require.Fail(t, "Close of the server must not hang")
	}
}

// hostileBody returns a valid response, a decompression bomb, or a response of another kind.
func hostileBody(random *rand.Rand, protobuf bool, r *http.Request) []byte {
	kind, apiVersion := "Pod", "v1"
	if strings.Contains(r.URL.Path, "foos") {
		kind, apiVersion = "Foo", "example.com/v1"
	}
	if random.IntN(8) == 0 {
		kind = []string{"Secret", "Status", "Table", "PartialObjectMetadata", "List", "", strings.Repeat("K", 1<<17)}[random.IntN(7)]
	}
	var objects [][]byte
	for i := range random.IntN(40) {
		objects = append(objects, hostileObject(random, protobuf, kind, apiVersion, i))
	}
	one := append(objects, hostileObject(random, protobuf, kind, apiVersion, 0))[0]
	var out []byte
	switch {
	case r.URL.Path == "/api" || r.URL.Path == "/apis" || strings.Contains(r.Header.Get("Accept"), "g=apidiscovery"):
		return hostileDiscovery(random)
	case r.URL.Query().Has("watch"):
		for _, object := range objects {
			name := []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "NONSENSE"}[min(random.IntN(40), 5)*random.IntN(2)]
			if protobuf {
				data := append(encodeField(1, []byte(name)), encodeField(2, encodeField(1, envelope(kind, apiVersion, object)))...)
				out = append(binary.BigEndian.AppendUint32(out, uint32(len(data))), data...)
			} else {
				out = fmt.Appendf(out, "{\"type\":%q,\"object\":%s}\n", name, object)
			}
		}
		return out
	case strings.HasSuffix(r.URL.Path, "/a") && protobuf:
		return envelope(kind, apiVersion, one)
	case strings.HasSuffix(r.URL.Path, "/a"):
		return one
	case protobuf:
		out = encodeField(1, encodeField(2, []byte("7")))
		for _, object := range objects {
			out = append(out, encodeField(2, object)...)
		}
		return envelope(kind+"List", apiVersion, out)
	}
	version := strings.Repeat("7", 1<<min(random.IntN(60), 14))
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":%q},"items":[%s]}`, kind+"List", apiVersion, version, bytes.Join(objects, []byte(",")))
}

// hostileObject returns a pod, or an object that is invalid, too large or too deep.
func hostileObject(random *rand.Rand, protobuf bool, kind, apiVersion string, i int) []byte {
	name := fmt.Sprint("pod-", i)
	many := 1 << random.IntN(18)
	if !protobuf {
		inner := `{}`
		switch random.IntN(8) {
		case 0:
			inner = `{"containers":[{}` + strings.Repeat(",{}", many) + `]}`
		case 1:
			inner = `{"containers":[null` + strings.Repeat(",null", many) + `]}`
		case 2:
			inner = strings.Repeat(`{"a":`, many/4) + "0" + strings.Repeat("}", many/4)
		case 3:
			inner = `{"volumes":` + strings.Repeat(`[`, many) + strings.Repeat("]", many) + `}`
		case 4:
			inner = `{"overhead":{"cpu":"1e-` + strings.Repeat("9", random.IntN(12)) + `"},"containers":[{"resources":{"limits":{"cpu":1e9999999999}}}]}`
		case 5:
			name = strings.Repeat("n", many)
		case 6:
			inner = `"` + strings.Repeat(`\u0000`, many) + `"`
		}
		return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"namespace":"n","resourceVersion":"%d"},"spec":%s}`, kind, apiVersion, name, i, inner)
	}
	var pod corev1.Pod
	pod.Name, pod.Namespace, pod.ResourceVersion = name, "n", fmt.Sprint(i)
	data, err := pod.Marshal()
	if err != nil {
		panic(err)
	}
	switch random.IntN(5) {
	case 0:
		data = append(data, encodeField(2, bytes.Repeat(encodeField(2, nil), many))...)
	case 1:
		data = append(data, encodeField(3, bytes.Repeat(encodeField(8, nil), many))...)
	case 2:
		data = append(data, bytes.Repeat([]byte{0x7b}, many)...) // groups
	case 3:
		data = append(data, encodeField(1, bytes.Repeat(encodeField(17, nil), many))...)
	}
	return data
}

func hostileDiscovery(random *rand.Rand) []byte {
	many := 1 << random.IntN(18)
	switch random.IntN(6) {
	case 0:
		return []byte(`{"kind":"APIGroupDiscoveryList","items":[{}` + strings.Repeat(",{}", many) + `]}`)
	case 1:
		return []byte(`{"kind":"APIVersions","versions":["v1"]}`)
	case 2:
		return []byte(`{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}` + strings.Repeat(`,{"version":"x"}`, random.IntN(20)) + `]}]}`)
	case 3:
		return []byte(`{"kind":"` + strings.Repeat("K", many) + `"}`)
	case 4:
		return []byte(strings.Repeat("[", many))
	}
	list, err := json.Marshal(metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1", APIResources: make([]metav1.APIResource, random.IntN(100))})
	if err != nil {
		panic(err)
	}
	return list
}

// encodeField returns a message field with this number and value.
func encodeField(number int, value []byte) []byte {
	out := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return append(binary.AppendUvarint(out, uint64(len(value))), value...)
}

func envelope(kind, apiVersion string, raw []byte) []byte {
	data, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}).Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), data...)
}
