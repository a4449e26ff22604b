package testing

import (
	"io"
	"net/http"
	"net/url"
	"reflect"
	"sync"
)

// TestInterface has the methods of a testing.T that report errors.
type TestInterface interface {
	Errorf(format string, args ...interface{})
	Logf(format string, args ...interface{})
}

// LogInterface has the methods of a testing.T that log.
type LogInterface interface {
	Logf(format string, args ...interface{})
}

// FakeHandler sends the same response to each request and records the last request. Set its fields
// before the requests, and read them afterwards.
type FakeHandler struct {
	// RequestReceived is the last request.
	RequestReceived *http.Request
	// RequestBody is the body of the last request.
	RequestBody string
	// StatusCode is the status code of responses. 0 means 200.
	StatusCode int
	// ResponseBody is the body of responses.
	ResponseBody string
	// T gets log lines and errors. May be nil.
	T LogInterface
	// SkipRequestFn returns true for a request that gets a response, but must be neither counted
	// nor recorded. May be nil.
	SkipRequestFn func(verb string, url url.URL) bool

	mu       sync.Mutex // guards the fields below, and the exported ones during a request
	requests int
	checked  bool
}

// SetResponseBody sets ResponseBody. It may be called between requests.
func (f *FakeHandler) SetResponseBody(responseBody string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ResponseBody = responseBody
}

// ServeHTTP records the request and sends the response.
func (f *FakeHandler) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.SkipRequestFn == nil || !f.SkipRequestFn(request.Method, *request.URL) {
		if f.checked {
			panic("got request after having been validated")
		}
		f.requests++
		f.RequestReceived = request
		body, err := io.ReadAll(request.Body)
		if err != nil {
			f.log("the request could not be read: %v", err)
		}
		f.RequestBody = string(body)
	}
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(f.status())
	if _, err := response.Write([]byte(f.ResponseBody)); err != nil {
		f.log("the answer could not be sent: %v", err)
	}
}

func (f *FakeHandler) status() int {
	if f.StatusCode == 0 {
		return http.StatusOK
	}
	return f.StatusCode
}

func (f *FakeHandler) log(format string, args ...interface{}) {
	if f.T != nil {
		f.T.Logf(format, args...)
	}
}

// ValidateRequestCount reports whether count requests arrived. If not, it reports an error to t.
func (f *FakeHandler) ValidateRequestCount(t TestInterface, count int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests != count {
		t.Errorf("Expected %d call, but got %d. Only the last call is recorded and checked.", count, f.requests)
	}
	f.checked = true
	return f.requests == count
}

// ValidateRequest compares the path, query, method and, if body is not nil, the body of the last
// request.
func (f *FakeHandler) ValidateRequest(t TestInterface, expectedPath, expectedMethod string, body *string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checked = true
	if f.RequestReceived == nil {
		t.Errorf("Unexpected nil request received for %s", expectedPath)
		return
	}
	expected, err := url.Parse(expectedPath)
	if err != nil {
		t.Errorf("Couldn't parse %v as a URL.", expectedPath)
		return
	}
	got := f.RequestReceived
	if got.URL.Path != expected.Path {
		t.Errorf("Unexpected request path for request %#v, received: %q, expected: %q", got, got.URL.Path, expected.Path)
	}
	if e, a := expected.Query(), got.URL.Query(); !reflect.DeepEqual(e, a) {
		t.Errorf("Unexpected query for request %#v, received: %q, expected: %q", got, a, e)
	}
	if got.Method != expectedMethod {
		t.Errorf("Unexpected method: %q, expected: %q", got.Method, expectedMethod)
	}
	if body != nil && *body != f.RequestBody {
		t.Errorf("Received body:\n%s\n Doesn't match expected body:\n%s", f.RequestBody, *body)
	}
}
