package rest_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/client-go/rest"
)

// proof/rest in this module compares many more responses and requests. The tests in this file cover
// the differences that proof/rest has found.

func TestAFailureStatusIsAnError(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`)
	})
	object, err := client.Get().AbsPath("/x").Do(t.Context()).Get()
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
	require.Nil(t, object)
}

func TestAnOverflowingRetryAfterMeansNoWait(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Retry-After", "99999999999999999999")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	err := client.Get().AbsPath("/x").Do(t.Context()).Error()
	require.True(t, apierrors.IsTooManyRequests(err), "%v", err)
	_, ok := apierrors.SuggestsClientDelay(err)
	require.False(t, ok)
}

func TestAStoppedWatchHasNoEvents(t *testing.T) {
	client := newTestClient(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-req.Context().Done()
	})
	for range 20 {
		w, err := client.Get().AbsPath("/x").Watch(t.Context())
		require.NoError(t, err)
		w.Stop()
		event, ok := <-w.ResultChan()
		require.False(t, ok, "%v", event)
	}
}

// A client sends JSON instead of CBOR if the feature gate of CBOR is off. A request from
// NewRequestWithClient keeps the given media types.
func TestTheAcceptHeaderOfARequest(t *testing.T) {
	base, err := url.Parse("http://h")
	require.NoError(t, err)
	for _, test := range []struct {
		content            rest.ClientContentConfig
		ofParts, ofAClient string
	}{
		{rest.ClientContentConfig{}, "application/json, */*", "application/json, */*"},
		{rest.ClientContentConfig{ContentType: "application/cbor"}, "application/cbor, */*", "application/json, */*"},
		{rest.ClientContentConfig{ContentType: "application/cbor", AcceptContentTypes: "application/cbor;q=1,a/b"}, "application/cbor;q=1,a/b", "application/json;q=1,a/b"},
		{rest.ClientContentConfig{AcceptContentTypes: "application/cbor-seq"}, "application/cbor-seq", "application/cbor-seq"},
	} {
		asked := ""
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("Accept")
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
		})}
		_, err := rest.NewRequestWithClient(base, "/api/v1", test.content, client).Verb("GET").DoRaw(t.Context())
		require.NoError(t, err)
		require.Equal(t, test.ofParts, asked)
		of, err := rest.NewRESTClient(base, "/api/v1", test.content, nil, client)
		require.NoError(t, err)
		_, err = of.Get().DoRaw(t.Context())
		require.NoError(t, err)
		require.Equal(t, test.ofAClient, asked)
	}
}
