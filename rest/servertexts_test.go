package rest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// The client truncates texts of a server in errors, and refuses a continue token that is too long
// to send back.
func TestG11_ServerTextsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	causes := make([]metav1.StatusCause, 3000)
	for i := range causes {
		causes[i] = metav1.StatusCause{Field: "f" + long[:100], Message: long[:10]}
	}
	for _, e := range encodings {
		status := &metav1.Status{
			Status: metav1.StatusFailure, Message: long, Reason: metav1.StatusReason(long), Code: http.StatusConflict,
			Details: &metav1.StatusDetails{Name: long, Group: long, Kind: long, UID: types.UID(long), Causes: causes},
		}
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType(e))
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write(encode(t, e, "Status", status))
		}), Options{})
		_, err := pods(client).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		var said *apierrors.StatusError
		require.ErrorAs(t, err, &said)
		details := said.ErrStatus.Details
		for _, text := range []string{said.ErrStatus.Message, string(said.ErrStatus.Reason), details.Name, details.Group, details.Kind, string(details.UID)} {
			require.Len(t, text, decode.MaxTextBytes)
		}
		require.Len(t, details.Causes, 256)
		require.Less(t, cap(details.Causes), 2*256, "an error must not keep the causes that it does not show")

		pod := plainPod(1)
		pod.ResourceVersion = long
		for name, err := range map[string]error{
			"kind of a list":          listErr(t.Context(), pods(serveBytes(t, e, encode(t, e, long+"List", &metav1.List{})))),
			"kind of none":            listErr(t.Context(), pods(serveBytes(t, e, encode(t, e, long, &metav1.List{})))),
			"version of a list":       listErr(t.Context(), pods(serveBytes(t, e, podList(t, e, long)))),
			"kind of an event":        watchErr(t, e, event(t, e, "ADDED", long, &pod)),
			"error of a watch":        watchErr(t, e, event(t, e, "ERROR", "Status", &metav1.Status{Status: metav1.StatusFailure, Message: strings.Repeat(long, 20)})),
			"page of a proxy":         listErr(t.Context(), pods(serveBytes(t, e, []byte(long)))),
			"version of an object":    itemErr(t, e, encodedItem(t, e, &pod)),
			"name of a broken object": itemErr(t, e, bombPod(e, long[:90_000], 100_000)),
		} {
			require.Error(t, err, "%s %s", e, name)
			require.NotErrorIs(t, err, io.EOF, "%s %s", e, name)
			require.Less(t, len(err.Error()), 5000, "%s %s", e, name)
		}
	}
	token := `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"` + strings.Repeat("x", wire.MaxTokenBytes+1) + `"},"items":[]}`
	err := listErr(t.Context(), pods(serveBytes(t, JSON, []byte(token))))
	require.ErrorContains(t, err, "a continue token of 524289 bytes")
}

func watchErr(t *testing.T, e Encoding, body []byte) error {
	stream := pods(&Client{}).readWatch(offline(t.Context(), bytes.NewReader(body)), e, nil, nil)
	defer stream.Close()
	_, _, err := drainWatch(stream)
	return err
}

// itemErr returns the error of a list's only item.
func itemErr(t *testing.T, e Encoding, item []byte) error {
	stream := pods(&Client{}).readList(offline(t.Context(), bytes.NewReader(listOf(e, "PodList", item))), e, nil)
	defer stream.Close()
	_, err := stream.Next()
	_, isObject := err.(*listwatch.ObjectError)
	require.True(t, isObject, "%v", err)
	return err
}

func encodedItem(t *testing.T, e Encoding, object any) []byte {
	data := encode(t, e, "Pod", object)
	if e == Protobuf {
		_, _, raw, err := wire.Unwrap(data, false)
		require.NoError(t, err)
		return raw
	}
	return bytes.TrimSpace(data)
}

// net/http quotes texts of the server in its errors, so the client truncates these errors.
func TestG11_ProtocolErrorsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, answer := range []string{"HTTP/1.1 " + long + "\r\n\r\n", long + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + long + "\r\n\r\n"} {
		var logged strings.Builder
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			require.NoError(t, err)
			_, _ = io.WriteString(conn, answer)
			conn.Close()
		}), Options{MaxRetries: -1, Observer: &Observer{OnResponse: func(a ResponseInfo) { logged.WriteString(a.Err.Error()) }}})
		_, err := get(t.Context(), client)
		require.ErrorContains(t, err, "malformed")
		require.Less(t, len(err.Error()), 10_000)
		require.Less(t, logged.Len(), 10_000)
	}
}
