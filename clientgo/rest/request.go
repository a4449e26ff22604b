package rest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/util/flowcontrol"
)

// HTTPClient sends requests.
type HTTPClient interface {
	Do(req *http.Request) (*http.Response, error)
}

// ResponseWrapper sends a request and returns the body of the response, as a whole or as a stream.
type ResponseWrapper interface {
	DoRaw(context.Context) ([]byte, error)
	Stream(context.Context) (io.ReadCloser, error)
}

// RequestConstructionError is the error of a request that could not be built, and was not sent.
type RequestConstructionError struct {
	Err error
}

// Error implements error.
func (r *RequestConstructionError) Error() string {
	return fmt.Sprintf("request construction error: '%v'", r.Err)
}

// Request is a request under construction. After the first error, later steps change nothing, and
// sending the request returns this error. A Request is not safe for concurrent use.
type Request struct {
	c       *RESTClient
	content ClientContentConfig
	noType  bool // the content type was not configured

	warningHandler WarningHandlerWithContext
	limiter        flowcontrol.RateLimiter
	backoff        BackoffManagerWithContext
	timeout        time.Duration
	maxRetries     int

	verb   string
	prefix string
	suffix string
	params url.Values
	header http.Header

	namespace    string
	namespaceSet bool
	resource     string
	name         string
	subresource  string

	err error

	// One of these fields holds the body. A reader can be read only once, so a request with a
	// reader is sent only once.
	body       io.Reader
	bytes      []byte
	replayable bool // the field bytes holds the body
}

// NewRequest begins a request with a client.
func NewRequest(c *RESTClient) *Request {
	var backoff BackoffManagerWithContext
	if c.newBackoff != nil {
		backoff = c.newBackoff()
	}
	if backoff == nil {
		backoff = &NoBackoff{}
	}
	root := "/"
	if c.base != nil {
		root = path.Join("/", c.base.Path)
	}
	r := &Request{
		c: c, content: c.content, noType: c.noContentType, limiter: c.limiter, backoff: backoff, warningHandler: c.warningHandler,
		maxRetries: 10, prefix: path.Join(root, c.versioned),
	}
	if c.Client != nil {
		r.timeout = c.Client.Timeout
	}
	r.accept()
	return r
}

// NewRequestWithClient begins a request with a client made from the arguments.
func NewRequestWithClient(base *url.URL, versionedAPIPath string, content ClientContentConfig, client *http.Client) *Request {
	settled, none := content.withMediaTypes()
	return NewRequest(&RESTClient{base: base, versioned: versionedAPIPath, content: settled, noContentType: none, Client: client})
}

// accept sets the Accept header from the content configuration.
func (r *Request) accept() {
	switch {
	case r.content.AcceptContentTypes != "":
		r.SetHeader("Accept", r.content.AcceptContentTypes)
	case r.content.ContentType != "":
		r.SetHeader("Accept", r.content.ContentType+", */*")
	}
}

// UseProtobufAsDefault sends and accepts protobuf, unless the client's configuration chose a
// content type.
func (r *Request) UseProtobufAsDefault() *Request {
	if r.noType && r.content.AcceptContentTypes == "" {
		r.content.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + jsonType
		r.content.ContentType = runtime.ContentTypeProtobuf
		r.accept()
	}
	return r
}

// UseProtobufAsDefaultIfPreferred is UseProtobufAsDefault if prefersProtobuf is true.
func (r *Request) UseProtobufAsDefaultIfPreferred(prefersProtobuf bool) *Request {
	if prefersProtobuf {
		return r.UseProtobufAsDefault()
	}
	return r
}

// fail sets the error of the request, unless it has an error already.
func (r *Request) fail(format string, args ...any) *Request {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
	return r
}

// Verb sets the method.
func (r *Request) Verb(verb string) *Request {
	r.verb = verb
	return r
}

// Prefix adds path segments before namespace, resource and name.
func (r *Request) Prefix(segments ...string) *Request {
	if r.err == nil {
		r.prefix = path.Join(r.prefix, path.Join(segments...))
	}
	return r
}

// Suffix adds path segments at the end.
func (r *Request) Suffix(segments ...string) *Request {
	if r.err == nil {
		r.suffix = path.Join(r.suffix, path.Join(segments...))
	}
	return r
}

// setSegment sets a part of the path to value. The value must be a valid path segment, and the part
// must not be set already.
func (r *Request) setSegment(what string, is *string, value string) *Request {
	switch {
	case r.err != nil:
		return r
	case *is != "":
		return r.fail("%s already set to %q, cannot change to %q", what, *is, value)
	}
	if wrong := IsValidPathSegmentName(value); len(wrong) > 0 {
		return r.fail("invalid %s %q: %v", what, value, wrong)
	}
	*is = value
	return r
}

// Resource sets the resource.
func (r *Request) Resource(resource string) *Request {
	return r.setSegment("resource", &r.resource, resource)
}

// Name sets the name, which must not be empty.
func (r *Request) Name(resourceName string) *Request {
	if resourceName == "" {
		return r.fail("resource name may not be empty")
	}
	return r.setSegment("resource name", &r.name, resourceName)
}

// SubResource sets the path segments after the name.
func (r *Request) SubResource(subresources ...string) *Request {
	if r.err != nil {
		return r
	}
	joined := path.Join(subresources...)
	if r.subresource != "" {
		return r.fail("subresource already set to %q, cannot change to %q", r.subresource, joined)
	}
	for _, segment := range subresources {
		if wrong := IsValidPathSegmentName(segment); len(wrong) > 0 {
			return r.fail("invalid subresource %q: %v", segment, wrong)
		}
	}
	r.subresource = joined
	return r
}

// Namespace sets the namespace. An empty namespace means all namespaces in a list or a watch.
func (r *Request) Namespace(namespace string) *Request {
	switch {
	case r.err != nil:
		return r
	case r.namespaceSet:
		return r.fail("namespace already set to %q, cannot change to %q", r.namespace, namespace)
	}
	if wrong := IsValidPathSegmentName(namespace); len(wrong) > 0 {
		return r.fail("invalid namespace %q: %v", namespace, wrong)
	}
	r.namespace, r.namespaceSet = namespace, true
	return r
}

// NamespaceIfScoped is Namespace if scoped is true.
func (r *Request) NamespaceIfScoped(namespace string, scoped bool) *Request {
	if scoped {
		return r.Namespace(namespace)
	}
	return r
}

// AbsPath replaces the path. The new path follows the path of the client's URL. If there is a
// single segment, a slash at its end is kept.
func (r *Request) AbsPath(segments ...string) *Request {
	if r.err != nil {
		return r
	}
	root := "/"
	if r.c.base != nil {
		root = r.c.base.Path
	}
	r.prefix = path.Join(root, path.Join(segments...))
	if len(segments) == 1 && (len(root) > 1 || len(segments[0]) > 1) && strings.HasSuffix(segments[0], "/") {
		r.prefix += "/"
	}
	return r
}

// RequestURI replaces path and parameters by the path and parameters of uri. The new path follows
// the path of the client's URL.
func (r *Request) RequestURI(uri string) *Request {
	if r.err != nil {
		return r
	}
	of, err := url.Parse(uri)
	if r.err = err; err == nil {
		r.AbsPath(of.Path).params = nil
		if of.RawQuery != "" {
			r.params = of.Query()
		}
	}
	return r
}

// Param adds a value to a query parameter.
func (r *Request) Param(paramName, s string) *Request {
	if r.err == nil {
		r.add(paramName, s)
	}
	return r
}

func (r *Request) add(name string, values ...string) {
	if r.params == nil {
		r.params = url.Values{}
	}
	r.params[name] = append(r.params[name], values...)
}

// VersionedParams adds an object as query parameters, in the API version of the client.
func (r *Request) VersionedParams(obj runtime.Object, codec runtime.ParameterCodec) *Request {
	return r.SpecificallyVersionedParams(obj, codec, r.content.GroupVersion)
}

// SpecificallyVersionedParams adds an object as query parameters, in the given API version.
func (r *Request) SpecificallyVersionedParams(obj runtime.Object, codec runtime.ParameterCodec, version schema.GroupVersion) *Request {
	if r.err != nil {
		return r
	}
	var params url.Values
	params, r.err = codec.EncodeParameters(obj, version)
	if r.err == nil {
		for name, values := range params {
			r.add(name, values...)
		}
	}
	return r
}

// SetHeader replaces a header.
func (r *Request) SetHeader(key string, values ...string) *Request {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Del(key)
	for _, value := range values {
		r.header.Add(key, value)
	}
	return r
}

// Timeout limits the time of the request. The server gets the timeout as a parameter.
func (r *Request) Timeout(d time.Duration) *Request {
	if r.err == nil {
		r.timeout = d
	}
	return r
}

// MaxRetries limits the number of retries. Defaults to 10. A negative number counts as zero.
func (r *Request) MaxRetries(maxRetries int) *Request {
	r.maxRetries = max(maxRetries, 0)
	return r
}

// BackOff sets the manager that computes the waits. nil means no waits.
//
// Deprecated: the waits of manager don't end with the caller's context. Use BackOffWithContext.
func (r *Request) BackOff(manager BackoffManager) *Request {
	if manager == nil {
		return r.BackOffWithContext(nil)
	}
	return r.BackOffWithContext(contextBackoff{manager})
}

// BackOffWithContext sets the manager that computes the waits. nil means no waits.
func (r *Request) BackOffWithContext(manager BackoffManagerWithContext) *Request {
	if r.backoff = manager; manager == nil {
		r.backoff = &NoBackoff{}
	}
	return r
}

// WarningHandler sets the handler of the server's warnings. nil selects the default handler.
func (r *Request) WarningHandler(handler WarningHandler) *Request {
	return r.WarningHandlerWithContext(adaptWarningHandler(handler))
}

// WarningHandlerWithContext sets the handler of the server's warnings. nil selects the default
// handler.
func (r *Request) WarningHandlerWithContext(handler WarningHandlerWithContext) *Request {
	r.warningHandler = handler
	return r
}

// Throttle sets the rate limiter.
func (r *Request) Throttle(limiter flowcontrol.RateLimiter) *Request {
	r.limiter = limiter
	return r
}

// Error returns the error of the first step that has failed, or nil.
func (r *Request) Error() error { return r.err }

// URL returns the URL from the steps so far.
func (r *Request) URL() *url.URL {
	p := r.prefix
	if r.namespaceSet && r.namespace != "" {
		p = path.Join(p, "namespaces", r.namespace)
	}
	if r.resource != "" {
		p = path.Join(p, strings.ToLower(r.resource))
	}
	if r.name != "" || r.suffix != "" || r.subresource != "" {
		p = path.Join(p, r.name, r.subresource, r.suffix)
	}
	final := &url.URL{}
	if r.c.base != nil {
		*final = *r.c.base
	}
	final.Path = p
	query := url.Values{}
	for key, values := range r.params {
		query[key] = append(query[key], values...)
	}
	if r.timeout != 0 {
		query.Set("timeout", r.timeout.String())
	}
	final.RawQuery = query.Encode()
	return final
}

// checkNamespace rejects an empty namespace if the request needs one.
func (r *Request) checkNamespace() error {
	if !r.namespaceSet || r.namespace != "" {
		return nil
	}
	switch {
	case r.verb == "POST":
		return fmt.Errorf("an empty namespace may not be set during creation")
	case r.name != "" && (r.verb == "GET" || r.verb == "PUT" || r.verb == "DELETE"):
		return fmt.Errorf("an empty namespace may not be set when a resource name is provided")
	}
	return nil
}
