package rest_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"k8s.io/client-go/rest"
)

// scriptedTransport has the results of attempts, in order. Each is an error or a status code.
// Further attempts get the last result.
type scriptedTransport struct {
	outcomes []any
	n        int
}

func (o *scriptedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	is := o.outcomes[min(o.n, len(o.outcomes)-1)]
	o.n++
	if err, ok := is.(error); ok {
		return nil, err
	}
	header := http.Header{"Content-Type": {"text/plain"}}
	if is.(int) == http.StatusServiceUnavailable {
		header.Set("Retry-After", "0")
	}
	return &http.Response{StatusCode: is.(int), Header: header, Body: io.NopCloser(strings.NewReader("x")), Request: r}, nil
}

// RS-14: the error of the last attempt also names the last network error before it, if the two
// errors differ. An error response does not count as a network error. If there is only the error of
// a response, it is returned as a StatusError, not wrapped.
func TestTheErrorNamesTheErrorOfAnEarlierAttempt(t *testing.T) {
	other := errors.New("other")
	for name, test := range map[string]struct {
		of        []any
		do, watch string
	}{
		"another error":                 {[]any{io.EOF, other}, `Get "http://x/y/v1": other - error from a previous attempt: EOF`, `Get "http://x/y/v1": other - error from a previous attempt: EOF`},
		"after a response":              {[]any{http.StatusServiceUnavailable, other}, `Get "http://x/y/v1": other`, `Get "http://x/y/v1": other`},
		"after an error and a response": {[]any{io.EOF, http.StatusServiceUnavailable, other}, `Get "http://x/y/v1": other - error from a previous attempt: EOF`, `Get "http://x/y/v1": other - error from a previous attempt: EOF`},
		"a response":                    {[]any{http.StatusNotFound}, "the server could not find the requested resource", "the server could not find the requested resource"},
		"a response after a response":   {[]any{http.StatusServiceUnavailable, http.StatusNotFound}, "the server could not find the requested resource", "the server could not find the requested resource"},
		"a response after an error":     {[]any{io.EOF, http.StatusNotFound}, "the server could not find the requested resource", "the server could not find the requested resource - error from a previous attempt: EOF"},
	} {
		client := func() *rest.RESTClient {
			c, err := rest.UnversionedRESTClientFor(&rest.Config{Host: "http://x", APIPath: "/y", QPS: -1, Transport: &scriptedTransport{outcomes: test.of}, ContentConfig: rest.ContentConfig{
				GroupVersion: &schema.GroupVersion{Version: "v1"}, NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()),
			}})
			require.NoError(t, err)
			return c
		}
		err := client().Get().Do(t.Context()).Error()
		require.EqualError(t, err, test.do, name)
		_, last := test.of[len(test.of)-1].(error)
		require.Equal(t, last, errors.As(err, new(*url.Error)), name)
		_, err = client().Get().Watch(t.Context())
		require.EqualError(t, err, test.watch, name)
		require.Equal(t, !last, apierrors.IsNotFound(err), name)
		if test.watch == "the server could not find the requested resource" {
			require.IsType(t, &apierrors.StatusError{}, err, name)
		}
	}
}
