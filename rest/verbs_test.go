package rest

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
)

// recorder is a server that records the last request, and responds with an object.
type recorder struct {
	t           testing.TB
	method, uri string
	contentType string
	body        string
	response    []byte
	encoding    Encoding
	status      int
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	require.NoError(r.t, err)
	r.method, r.uri, r.contentType, r.body = req.Method, req.URL.RequestURI(), req.Header.Get("Content-Type"), string(body)
	w.Header().Set("Content-Type", contentType(r.encoding))
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	_, _ = w.Write(r.response)
}

func TestVerbs(t *testing.T) { // RS-1
	t.Parallel()
	pod := plainPod(1)
	pod.Namespace, pod.Name = "n", "a"
	key := types.NamespacedName{Namespace: "n", Name: "a"}
	force := true
	ctx := t.Context()
	for _, e := range encodings {
		for name, test := range map[string]struct {
			call        func(*Resource[*corev1.Pod]) (*corev1.Pod, error)
			method, uri string
			contentType string
		}{
			"get": {func(r *Resource[*corev1.Pod]) (*corev1.Pod, error) {
				return r.Get(ctx, key, metav1.GetOptions{ResourceVersion: "0"})
			}, "GET", "/api/v1/namespaces/n/pods/a?resourceVersion=0", ""},
			"create": {func(r *Resource[*corev1.Pod]) (*corev1.Pod, error) {
				return r.Create(ctx, &pod, metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: "me", FieldValidation: "Strict"})
			}, "POST", "/api/v1/namespaces/n/pods?dryRun=All&fieldManager=me&fieldValidation=Strict", mediaTypeJSON},
			"update": {func(r *Resource[*corev1.Pod]) (*corev1.Pod, error) {
				return r.Update(ctx, &pod, metav1.UpdateOptions{FieldManager: "me"})
			}, "PUT", "/api/v1/namespaces/n/pods/a?fieldManager=me", mediaTypeJSON},
			"update status": {func(r *Resource[*corev1.Pod]) (*corev1.Pod, error) {
				return r.UpdateStatus(ctx, &pod, metav1.UpdateOptions{})
			}, "PUT", "/api/v1/namespaces/n/pods/a/status", mediaTypeJSON},
			"patch": {func(r *Resource[*corev1.Pod]) (*corev1.Pod, error) {
				return r.Patch(ctx, key, types.ApplyPatchType, []byte(`{}`), metav1.PatchOptions{FieldManager: "me", Force: &force}, "status")
			}, "PATCH", "/api/v1/namespaces/n/pods/a/status?fieldManager=me&force=true", "application/apply-patch+yaml"},
		} {
			handler := &recorder{t: t, response: encode(t, e, "Pod", &pod), encoding: e}
			got, err := test.call(pods(serve(t, handler, Options{})))
			require.NoError(t, err, name)
			require.Equal(t, pod.Spec, got.Spec, name)
			require.Equal(t, pod.Labels, got.Labels)
			require.Zero(t, got.TypeMeta)
			require.Equal(t, test.method, handler.method, name)
			require.Equal(t, test.uri, handler.uri, name)
			require.Equal(t, test.contentType, handler.contentType, name)
			if strings.HasPrefix(test.method, "P") && test.method != "PATCH" {
				sent := &corev1.Pod{}
				require.NoError(t, json.Unmarshal([]byte(handler.body), sent))
				require.Equal(t, pod.Spec, sent.Spec, name)
			}
		}
	}
}

func TestDeleteTakesStatusOrObject(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	seconds := int64(5)
	for _, e := range encodings {
		for _, answer := range [][]byte{
			encode(t, e, "Pod", &pod),
			encode(t, e, "Status", &metav1.Status{Status: metav1.StatusSuccess}),
		} {
			handler := &recorder{t: t, response: answer, encoding: e}
			r := pods(serve(t, handler, Options{}))
			require.NoError(t, r.Delete(t.Context(), types.NamespacedName{Namespace: "n", Name: "a"}, metav1.DeleteOptions{GracePeriodSeconds: &seconds}))
			require.Equal(t, "DELETE", handler.method)
			require.Equal(t, "/api/v1/namespaces/n/pods/a", handler.uri)
			require.JSONEq(t, `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5}`, handler.body)
		}
	}
}

func TestUnstructuredIsSentWithItsKind(t *testing.T) {
	t.Parallel()
	const foo = `{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a"},"spec":{"n":7}}`
	handler := &recorder{t: t, response: []byte(foo), status: http.StatusCreated}
	gvr := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "foos"}
	r := Must(NewJSONResource[*unstructured.Unstructured](serve(t, handler, Options{}), gvr, ResourceOptions{Namespace: "n"}))
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON([]byte(foo)))
	got, err := r.Create(t.Context(), obj, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, obj, got)
	require.Equal(t, "/apis/example.com/v1/namespaces/n/foos", handler.uri, "the namespace of the Resource must be used")
	require.JSONEq(t, foo, handler.body)
}

func TestMalformedObjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		e            Encoding
		body, reason string
	}{
		"empty":                {JSON, "", "the body is empty"}, // RS-18
		"empty protobuf":       {Protobuf, "", "the body is empty"},
		"page of a proxy":      {JSON, "<html>", "a JSON object is expected"},
		"cut off":              {JSON, `{"kind":"Pod"`, "not valid JSON"},
		"table":                {JSON, `{"kind":"Table"}`, `"Table"`},
		"status":               {JSON, `{"kind":"Status","status":"Success"}`, `"Status"`},
		"no kind":              {JSON, `{"metadata":{"name":"a"}}`, "without a kind"},
		"of another type":      {JSON, `{"kind":"Pod","spec":7}`, "cannot unmarshal"},
		"no magic number":      {Protobuf, "abc", "magic number"},
		"empty envelope":       {Protobuf, "k8s\x00", "the envelope is empty"},
		"nonsense in envelope": {Protobuf, "k8s\x00\x12\x03\x0a\x7fa", "ends within a field"},
	} {
		handler := &recorder{t: t, response: []byte(test.body), encoding: test.e}
		_, err := pods(serve(t, handler, Options{})).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
		require.ErrorIs(t, err, ErrMalformed, name)
		require.ErrorContains(t, err, "/api/v1/pods/a: malformed response", name)
		require.ErrorContains(t, err, test.reason, name)
	}
	handler := &recorder{t: t}
	require.ErrorIs(t, pods(serve(t, handler, Options{})).Delete(t.Context(), types.NamespacedName{Name: "a"}, metav1.DeleteOptions{}), ErrMalformed)
}

func TestObjectThatIsTooLarge(t *testing.T) {
	t.Parallel()
	pod := plainPod(1)
	handler := &recorder{t: t, response: encode(t, JSON, "Pod", &pod)}
	_, err := pods(serve(t, handler, Options{MaxObjectBytes: 100})).Get(t.Context(), types.NamespacedName{Name: "a"}, metav1.GetOptions{})
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestInvalidVerbCallsSendNoRequest(t *testing.T) { // RS-3
	t.Parallel()
	client := serve(t, http.NotFoundHandler(), Options{})
	ctx, none := t.Context(), metav1.GetOptions{}
	for _, name := range []string{"..", ".", "a/b", "a%2fb", ""} {
		_, err := pods(client).Get(ctx, types.NamespacedName{Namespace: "n", Name: name}, none)
		require.Error(t, err, name)
		_, err = pods(client).Patch(ctx, types.NamespacedName{Namespace: "n", Name: "a"}, types.MergePatchType, nil, metav1.PatchOptions{}, "..")
		require.Error(t, err)
		if name != "" {
			_, err = NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Namespace: name})
			require.Error(t, err, name)
		}
	}
	_, err := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{Namespace: "n"})).Get(ctx, types.NamespacedName{Namespace: "m", Name: "a"}, none)
	require.ErrorContains(t, err, `for namespace "n"`)
	_, err = pods(client).Create(ctx, nil, metav1.CreateOptions{})
	require.ErrorContains(t, err, "nil")
	_, err = Must(NewJSONResource[map[string]any](client, podsGVR, ResourceOptions{})).Create(ctx, map[string]any{}, metav1.CreateOptions{})
	require.ErrorContains(t, err, "metav1.Object")
	_, err = NewResource[*corev1.Pod](client, schema.GroupVersionResource{Resource: "pods"}, ResourceOptions{})
	require.ErrorContains(t, err, "has no version")
	_, err = NewJSONResource[*unstructured.Unstructured](client, podsGVR, ResourceOptions{Encoding: Protobuf})
	require.ErrorContains(t, err, "use NewResource")
	require.Zero(t, client.Stats().Requests)
}

func TestFailuresOfTheServer(t *testing.T) { // RS-19
	t.Parallel()
	pod := plainPod(1)
	pod.Name = "a"
	key := types.NamespacedName{Name: "a"}
	status := func(s metav1.Status) func(Encoding) []byte {
		s.Status = metav1.StatusFailure
		return func(e Encoding) []byte { return encode(t, e, "Status", &s) }
	}
	text := func(s string) func(Encoding) []byte { return func(Encoding) []byte { return []byte(s) } }
	get := func(r *Resource[*corev1.Pod]) error {
		_, err := r.Get(t.Context(), key, metav1.GetOptions{})
		return err
	}
	create := func(r *Resource[*corev1.Pod]) error {
		_, err := r.Create(t.Context(), &pod, metav1.CreateOptions{})
		return err
	}
	update := func(r *Resource[*corev1.Pod]) error {
		_, err := r.Update(t.Context(), &pod, metav1.UpdateOptions{})
		return err
	}
	list := func(r *Resource[*corev1.Pod]) error { return listErr(t.Context(), r) }
	for name, test := range map[string]struct {
		code int
		body func(Encoding) []byte
		call func(*Resource[*corev1.Pod]) error
		is   func(error) bool
		text string
	}{
		"not found":            {404, status(metav1.Status{Reason: metav1.StatusReasonNotFound, Message: "pods \"a\" not found"}), get, apierrors.IsNotFound, "pods \"a\" not found"},
		"expired":              {410, status(metav1.Status{Reason: metav1.StatusReasonExpired, Message: "too old"}), list, apierrors.IsResourceExpired, "too old"},
		"conflict":             {409, status(metav1.Status{Reason: metav1.StatusReasonConflict, Code: 409}), update, apierrors.IsConflict, ": the server responded with 409 Conflict, without a message"},
		"without anything":     {410, status(metav1.Status{}), list, apierrors.IsGone, ": the server responded with 410, without a message"},
		"text, not found":      {404, text("404 page not found"), get, apierrors.IsNotFound, "404 page not found"},
		"text, names the pod":  {404, text(""), get, apierrors.IsNotFound, "(get pods a)"},
		"text, gone":           {410, text(""), list, apierrors.IsGone, ""},
		"text, exists already": {409, text(""), create, apierrors.IsAlreadyExists, ""},
		"text, conflict":       {409, text(""), update, apierrors.IsConflict, ""},
		"text, unauthorized":   {401, text("Unauthorized"), list, apierrors.IsUnauthorized, "Unauthorized"},
		"text, forbidden":      {403, text("you must not"), list, apierrors.IsForbidden, "you must not"},
		"text, broken":         {500, text("<html>oops"), list, apierrors.IsInternalError, "oops"},
		"text, bad gateway":    {502, text("<html>no upstream"), list, apierrors.IsUnexpectedServerError, "no upstream"},
		"text, unavailable":    {503, text(""), list, apierrors.IsServiceUnavailable, ""},
		"a success":            {500, func(e Encoding) []byte { return encode(t, e, "Status", &metav1.Status{Status: metav1.StatusSuccess}) }, list, apierrors.IsUnexpectedServerError, ""},
		"redirect":             {302, text("Found"), list, apierrors.IsUnexpectedServerError, "redirected to https://login.example/"},
	} {
		for _, e := range encodings {
			client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType(e))
				w.Header().Set("Location", "https://login.example/?token=hush")
				w.WriteHeader(test.code)
				_, _ = w.Write(test.body(e))
			}), Options{})
			err := test.call(pods(client))
			require.True(t, test.is(err), "%s: %v", name, err)
			require.ErrorContains(t, err, test.text, name)
			require.ErrorContains(t, err, "http://127.0.0.1:", name)
			require.NotContains(t, err.Error(), "hush")
		}
	}
}

func TestTextOfAFailureIsBounded(t *testing.T) { // RS-19
	t.Parallel()
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, strings.Repeat("é", 5000))
	}), Options{})
	err := listErr(t.Context(), pods(client))
	var status apierrors.APIStatus
	require.ErrorAs(t, err, &status)
	require.Equal(t, metav1.CauseTypeUnexpectedServerResponse, status.Status().Details.Causes[0].Type)
	require.Equal(t, strings.Repeat("é", 1024), status.Status().Details.Causes[0].Message)
}

func TestStatusOfAFailureIsBounded(t *testing.T) { // RS-19
	t.Parallel()
	long := strings.Repeat("x", decode.MaxTextBytes+1)
	huge := metav1.Status{Status: metav1.StatusFailure, Code: 500, Message: long, Details: &metav1.StatusDetails{
		Causes: slices.Repeat([]metav1.StatusCause{{Message: long}}, 256+1), RetryAfterSeconds: math.MaxInt32,
	}}
	for _, e := range encodings {
		for where, client := range map[string]*Client{
			"response": serve(t, &recorder{t: t, response: encode(t, e, "Status", &huge), encoding: e, status: 500}, Options{}),
			"event":    serveBytes(t, e, event(t, e, "ERROR", "Status", &huge)),
		} {
			stream, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
			if err == nil {
				_, err = stream.Next()
				require.NoError(t, stream.Close())
			}
			var failed apierrors.APIStatus
			require.ErrorAs(t, err, &failed, where)
			status := failed.Status()
			require.Len(t, status.Message, decode.MaxTextBytes, where)
			require.Len(t, status.Details.Causes, 256, where)
			require.Len(t, status.Details.Causes[0].Message, decode.MaxTextBytes, where)
			require.EqualValues(t, decode.MaxRetryAfter, status.Details.RetryAfterSeconds, where)
		}
	}
}

func TestRedirectLocationHasNoSecrets(t *testing.T) {
	t.Parallel()
	for location, want := range map[string]string{
		"https://me:hush@idp/callback#access_token=hush": "redirected to https://idp/callback, but redirects are not followed",
		"/login?token=hush":    "redirected to /login, but redirects are not followed",
		"https://me:hush@i dp": "redirected, but redirects are not followed",
	} {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}), Options{})
		_, err := client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestRetryAfter(t *testing.T) { // D20
	t.Parallel()
	for name, test := range map[string]struct {
		header, body string
		want         int
	}{
		"header and text":   {"7", "slow down", 7},
		"header and status": {"7", `{"kind":"Status","status":"Failure","reason":"TooManyRequests","code":429}`, 7},
		"status":            {"", `{"kind":"Status","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":9}}`, 9},
		"status, too long":  {"", `{"kind":"Status","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":2147483647}}`, 24 * 60 * 60},
		"status, negative":  {"", `{"kind":"Status","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":-5}}`, 0},
		"status first":      {"7", `{"kind":"Status","status":"Failure","reason":"TooManyRequests","details":{"retryAfterSeconds":9}}`, 9},
		"neither":           {"", "slow down", 0},
		"nonsense":          {"soon", "slow down", 0},
		"in the past":       {"Sat, 25 Aug 2012 23:34:45 GMT", "slow down", 0},
		"far away":          {"Sat, 25 Aug 2412 23:34:45 GMT", "slow down", 24 * 60 * 60},
	} {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if test.header != "" {
				w.Header().Set("Retry-After", test.header)
			}
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, test.body)
		}), Options{})
		err := listErr(t.Context(), pods(client))
		require.True(t, apierrors.IsTooManyRequests(err), name)
		seconds, ok := apierrors.SuggestsClientDelay(err)
		require.Equal(t, test.want > 0, ok, name)
		require.Equal(t, test.want, seconds, name)
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	handler := &recorder{t: t, response: []byte("anything"), encoding: JSON}
	client := serve(t, handler, Options{})
	body, err := client.Raw(t.Context(), http.MethodPost, "/readyz", RawOptions{
		Query: map[string][]string{"verbose": {""}}, Body: []byte("x"), ContentType: "text/plain",
	})
	require.NoError(t, err)
	require.Equal(t, "anything", string(body))
	require.Equal(t, "/readyz?verbose=", handler.uri)
	require.Equal(t, "text/plain", handler.contentType)
	handler.status, handler.response = 404, nil
	_, err = client.Raw(t.Context(), http.MethodGet, "/missing", RawOptions{})
	require.True(t, apierrors.IsNotFound(err))
}
