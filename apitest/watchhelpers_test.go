package apitest_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// stream is an open watch.
type stream struct {
	t    *testing.T
	resp *http.Response
	r    *bufio.Reader
}

// event is one event of a watch. It has the kind, apiVersion and metadata of the event's object.
type event struct {
	Type   string
	Object struct {
		metav1.TypeMeta
		metav1.ObjectMeta `json:"metadata"`
	}
	raw []byte // the object: JSON, or the protobuf envelope
}

// watch opens a watch. The params are pairs of name and value.
func (c *client) watch(t *testing.T, path, accept string, params ...string) *stream {
	t.Helper()
	query := url.Values{"watch": {"1"}}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	resp := c.send(t, http.MethodGet, path+"?"+query.Encode(), "", "Accept", accept)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return &stream{t, resp, bufio.NewReader(resp.Body)}
}

// frame reads the bytes of one event.
func (s *stream) frame() ([]byte, error) {
	if !strings.HasPrefix(s.resp.Header.Get("Content-Type"), protoType) {
		return s.r.ReadBytes('\n')
	}
	var size [4]byte
	if _, err := io.ReadFull(s.r, size[:]); err != nil {
		return nil, err
	}
	data := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(s.r, data)
	return data, err
}

func (s *stream) next() (ev event, err error) {
	data, err := s.frame()
	if err != nil {
		return ev, err
	}
	if strings.HasPrefix(s.resp.Header.Get("Content-Type"), protoType) {
		var we metav1.WatchEvent
		require.NoError(s.t, we.Unmarshal(data))
		ev.Type, ev.raw = we.Type, we.Object.Raw
		apiVersion, kind, raw := envelope(s.t, we.Object.Raw)
		// every object has its metadata at the same place
		var partial metav1.PartialObjectMetadata
		if kind != "Status" {
			require.NoError(s.t, partial.Unmarshal(raw))
		}
		ev.Object.TypeMeta = metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
		ev.Object.ObjectMeta = partial.ObjectMeta
		return ev, nil
	}
	var we struct {
		Type   string
		Object json.RawMessage
	}
	require.NoError(s.t, json.Unmarshal(data, &we), "%s", data)
	ev.Type, ev.raw = we.Type, we.Object
	return ev, json.Unmarshal(we.Object, &ev.Object)
}

// expect reads an event for each argument, and compares the event with it. An argument is "TYPE
// namespace/name", or "BOOKMARK version" for a bookmark.
func (s *stream) expect(want ...string) (last event) {
	s.t.Helper()
	for _, w := range want {
		ev, err := s.next()
		require.NoError(s.t, err, "waiting for %s", w)
		require.Equal(s.t, w, ev.String())
		last = ev
	}
	return last
}

// ends requires that the watch ends.
func (s *stream) ends() {
	s.t.Helper()
	ev, err := s.next()
	require.ErrorIs(s.t, err, io.EOF, "%s", ev)
}

// status reads an ERROR event, and returns its Status.
func (s *stream) status() (status metav1.Status) {
	s.t.Helper()
	ev, err := s.next()
	require.NoError(s.t, err)
	require.Equal(s.t, "ERROR", ev.Type)
	if ev.raw[0] == '{' {
		return decode[metav1.Status](s.t, ev.raw)
	}
	_, kind, raw := envelope(s.t, ev.raw)
	require.Equal(s.t, "Status", kind)
	require.NoError(s.t, status.Unmarshal(raw))
	return status
}

func (e event) String() string {
	switch {
	case e.Object.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		return e.Type + " END " + e.Object.ResourceVersion
	case e.Type == "BOOKMARK":
		return e.Type + " " + e.Object.ResourceVersion
	}
	return e.Type + " " + e.Object.Namespace + "/" + e.Object.Name
}

// pod decodes the pod in an event.
func (e event) pod(t *testing.T) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if e.raw[0] == '{' {
		require.NoError(t, json.Unmarshal(e.raw, p))
		return p
	}
	_, _, raw := envelope(t, e.raw)
	require.NoError(t, p.Unmarshal(raw))
	return p
}

func widget(namespace, name, color string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"spec":     map[string]any{"color": color},
	}}
}
