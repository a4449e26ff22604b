package contracts

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/third_party/forked/golang/template"
	"k8s.io/client-go/third_party/forked/httpcache"
)

func TestComparisonsOfTemplates(t *testing.T) {
	type text string
	says := func(holds bool, err error) string { return fmt.Sprint(holds, " ", err) }
	const bad, incompatible = "invalid type for comparison", "incompatible types for comparison"
	for _, c := range []struct {
		a, b  any
		wants [6]string // Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual
	}{
		{1, int64(1), [6]string{"true <nil>", "false <nil>", "false <nil>", "true <nil>", "false <nil>", "true <nil>"}},
		{1, 2, [6]string{"false <nil>", "true <nil>", "true <nil>", "true <nil>", "false <nil>", "false <nil>"}},
		{-1, uint8(1), [6]string{"false <nil>", "true <nil>", "true <nil>", "true <nil>", "false <nil>", "false <nil>"}},
		{uint64(math.MaxUint64), -1, [6]string{"false <nil>", "true <nil>", "false <nil>", "false <nil>", "true <nil>", "true <nil>"}},
		{uint(3), 3, [6]string{"true <nil>", "false <nil>", "false <nil>", "true <nil>", "false <nil>", "true <nil>"}},
		{1.5, float32(2), [6]string{"false <nil>", "true <nil>", "true <nil>", "true <nil>", "false <nil>", "false <nil>"}},
		{math.NaN(), 1.0, [6]string{"false <nil>", "true <nil>", "false <nil>", "false <nil>", "true <nil>", "true <nil>"}},
		{"a", text("b"), [6]string{"false <nil>", "true <nil>", "true <nil>", "true <nil>", "false <nil>", "false <nil>"}},
		{true, true, [6]string{"true <nil>", "false <nil>", "false " + bad, "false " + bad, "false " + bad, "false " + bad}},
		{1i, 1i, [6]string{"true <nil>", "false <nil>", "false " + bad, "false " + bad, "false " + bad, "false " + bad}},
		{1, 1.0, [6]string{"false " + incompatible, "true " + incompatible, "false " + incompatible, "false " + incompatible, "false " + incompatible, "false " + incompatible}},
		{nil, 1, [6]string{"false " + bad, "true " + bad, "false " + bad, "false " + bad, "false " + bad, "false " + bad}},
		{"a", []int{1}, [6]string{"false " + bad, "true " + bad, "false " + bad, "false " + bad, "false " + bad, "false " + bad}},
	} {
		require.Equal(t, c.wants, [6]string{says(template.Equal(c.a, c.b)), says(template.NotEqual(c.a, c.b)), says(template.Less(c.a, c.b)),
			says(template.LessEqual(c.a, c.b)), says(template.Greater(c.a, c.b)), says(template.GreaterEqual(c.a, c.b))}, "%#v and %#v", c.a, c.b)
	}
	require.Equal(t, "true <nil>", says(template.Equal(1, 2, 1, []int{})))
	require.Equal(t, "false "+bad, says(template.Equal(1, 2, []int{}, 1)))
	require.Equal(t, "false missing argument for comparison", says(template.Equal(1)))
}

// stringerPointer is a type whose pointer has a method String.
type stringerPointer struct{ A int }

func (p *stringerPointer) String() string { return "text" }

func TestValuesOfTemplates(t *testing.T) {
	number := 3
	pointer := &number
	var none *int
	var empty any = &pointer
	var failure error = errors.New("E")
	for _, c := range []struct {
		in   any
		want any
		null bool
	}{{number, 3, false}, {pointer, 3, false}, {&pointer, 3, false}, {&empty, 3, false}, {none, none, true}} {
		got, null := template.Indirect(reflect.ValueOf(c.in))
		require.Equal(t, c.null, null)
		require.Equal(t, c.want, got.Interface())
	}
	got, null := template.Indirect(reflect.ValueOf(&failure))
	require.False(t, null)
	require.Equal(t, reflect.Interface, got.Kind(), "Indirect stops at an interface with methods")

	for _, c := range []struct {
		in   reflect.Value
		want any
		ok   bool
	}{
		{reflect.Value{}, "<no value>", true},
		{reflect.ValueOf(pointer), 3, true},
		{reflect.ValueOf(stringerPointer{1}), stringerPointer{1}, true},
		{reflect.ValueOf(&[]stringerPointer{{1}}).Elem().Index(0), &stringerPointer{1}, true},
		{reflect.ValueOf(failure), failure, true},
		{reflect.ValueOf(make(chan int)), nil, false},
		{reflect.ValueOf(func() {}), nil, false},
	} {
		got, ok := template.PrintableValue(c.in)
		require.Equal(t, c.ok, ok)
		require.Equal(t, c.want, got)
	}
}

// cachedServer is a server behind a transport that caches responses.
type cachedServer struct {
	t        *testing.T
	cache    *httpcache.MemoryCache
	respond  func(r *http.Request) (*http.Response, error)
	requests []string
	address  *url.URL
}

func newCachedServer(t *testing.T) *cachedServer {
	address, err := url.Parse("http://server.example/path")
	require.NoError(t, err)
	return &cachedServer{t: t, cache: httpcache.NewMemoryCache(), address: address}
}

func (c *cachedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests = append(c.requests, r.Method+" "+r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since"))
	return c.respond(r)
}

// header returns headers from names and values, with the current time as the Date.
func header(pairs ...string) http.Header {
	h := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// setResponse sets the server's response to every request.
func (c *cachedServer) setResponse(code int, body string, pairs ...string) {
	c.respond = func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		for name, values := range header(pairs...) {
			w.Header()[name] = values
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
		return w.Result(), nil
	}
}

// do returns the outcome of a request: the status code, the body, whether the cache served it, and
// the requests that the server received.
func (c *cachedServer) do(method string, pairs ...string) string {
	c.requests = nil
	r := &http.Request{Method: method, URL: c.address, Header: http.Header{}}
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Set(pairs[i], pairs[i+1])
	}
	transport := httpcache.NewTransport(c.cache)
	transport.Transport = c
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	body, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.NoError(c.t, resp.Body.Close())
	return fmt.Sprintf("%d %s %s %q", resp.StatusCode, body, resp.Header.Get(httpcache.XFromCache), c.requests)
}

func TestResponsesAreCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCachedServer(t)
		c.setResponse(200, "one", "Cache-Control", "max-age=60", "Etag", "1")
		require.Equal(t, `200 one  ["GET "]`, c.do("GET"))
		require.Equal(t, `200 one 1 []`, c.do("GET"))
		require.Equal(t, `200 one  ["GET "]`, c.do("GET", "Cache-Control", "no-cache"))
		require.Equal(t, `200 one 1 []`, c.do("GET", "Cache-Control", "only-if-cached"))
		require.Equal(t, `200 one  ["GET 1"]`, c.do("GET", "Cache-Control", "max-age=0"), "the response is not a 304, so it does not count as cached")
		time.Sleep(30 * time.Second)
		require.Equal(t, `200 one  ["GET 1"]`, c.do("GET", "Cache-Control", "min-fresh=40"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, `200 one 1 []`, c.do("GET", "Cache-Control", "max-stale"))
		require.Equal(t, `200 one 1 []`, c.do("GET", "Cache-Control", "max-stale=100"))
		c.setResponse(304, "", "Etag", "1", "Cache-Control", "max-age=60", "X-New", "1")
		require.Equal(t, `200 one 1 ["GET 1"]`, c.do("GET"))
		require.Equal(t, `200 one 1 []`, c.do("GET"), "the cached response has the date of the 304")

		c = newCachedServer(t)
		require.Equal(t, `504   []`, c.do("GET", "Cache-Control", "only-if-cached"))
		c.setResponse(200, "one", "Cache-Control", "no-store")
		require.Equal(t, `200 one  ["GET "]`, c.do("GET"))
		require.Equal(t, `200 one  ["GET "]`, c.do("GET"))
		c.setResponse(200, "one", "Expires", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat), "Last-Modified", "before")
		require.Equal(t, `200 one  ["GET "]`, c.do("GET"))
		require.Equal(t, `200 one 1 []`, c.do("GET"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, `200 one  ["GET before"]`, c.do("GET"))
		require.Equal(t, `200 one  ["POST "]`, c.do("POST"))
		require.Equal(t, `200 one  ["GET "]`, c.do("GET", "Range", "bytes=0-1"))
		require.Equal(t, `200 one  ["GET "]`, c.do("GET"), "a partial request removes the cached response")
	})
}

func TestACachedResponseDependsOnVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCachedServer(t)
		c.setResponse(200, "json", "Cache-Control", "max-age=60", "Vary", "Accept, X-Other", "Etag", "1")
		require.Equal(t, `200 json  ["GET "]`, c.do("GET", "Accept", "json"))
		require.Equal(t, `200 json 1 []`, c.do("GET", "Accept", "json"))
		require.Equal(t, `200 json  ["GET "]`, c.do("GET", "Accept", "yaml"))
		require.Equal(t, `200 json  ["GET "]`, c.do("GET", "Accept", "yaml", "X-Other", "1"))
	})
}

func TestACachedResponseIsUsedOnErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ response, request, want string }{
			{"stale-if-error", "", `200 one 1 ["GET 1"]`},
			{"stale-if-error=300", "", `200 one 1 ["GET 1"]`},
			{"stale-if-error=30", "", `503 two  ["GET 1"]`},
			{"", "stale-if-error=300", `200 one 1 ["GET 1"]`},
			{"", "", `503 two  ["GET 1"]`},
		} {
			s := newCachedServer(t)
			s.setResponse(200, "one", "Etag", "1", "Cache-Control", c.response)
			require.Equal(t, `200 one  ["GET "]`, s.do("GET"))
			time.Sleep(time.Minute)
			s.setResponse(503, "two")
			require.Equal(t, c.want, s.do("GET", "Cache-Control", c.request), c)
		}
		s := newCachedServer(t)
		s.setResponse(200, "one", "Etag", "1")
		require.Equal(t, `200 one  ["GET "]`, s.do("GET"))
		s.respond = func(*http.Request) (*http.Response, error) { return nil, errors.New("E") }
		require.Equal(t, "E", s.do("GET"))
		require.Equal(t, "E", s.do("GET"))
		require.Equal(t, []string{"GET "}, s.requests, "a failed request removes the cached response")
	})
}

func TestTheDateOfAResponse(t *testing.T) {
	_, err := httpcache.Date(http.Header{})
	require.ErrorIs(t, err, httpcache.ErrNoDateHeader)
	date, err := httpcache.Date(http.Header{"Date": {"Thu, 26 Nov 2026 15:00:00 GMT"}})
	require.NoError(t, err)
	require.Equal(t, 15, date.Hour())
	resp, err := httpcache.CachedResponse(httpcache.NewMemoryCache(), httptest.NewRequest("GET", "/", nil))
	require.NoError(t, err)
	require.Nil(t, resp)
}
