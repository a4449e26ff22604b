package rest

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/net"
)

// Result is the outcome of a request.
type Result struct {
	body        []byte
	warnings    []net.WarningHeader
	contentType string
	err         error
	statusCode  int
	decoder     runtime.Decoder
	streamed    *listResponse // response to a reflector's list, not read yet; nil if it was read
	sharing     Sharing
}

// readAll returns the result after its body was read.
func (r Result) readAll() Result {
	if r.streamed == nil {
		return r
	}
	read := r.streamed.readAll()
	read.warnings = r.warnings
	return read
}

// Raw returns the body unchanged.
func (r Result) Raw() ([]byte, error) {
	r = r.readAll()
	return r.body, r.err
}

// Warnings returns the server's warnings.
func (r Result) Warnings() []net.WarningHeader { return r.warnings }

// ContentType stores the Content-Type of the response.
func (r Result) ContentType(contentType *string) Result {
	*contentType = r.contentType
	return r
}

// StatusCode stores the status code of the response.
func (r Result) StatusCode(statusCode *int) Result {
	*statusCode = r.statusCode
	return r
}

// WasCreated stores whether the status code is 201.
func (r Result) WasCreated(wasCreated *bool) Result {
	*wasCreated = r.statusCode == http.StatusCreated
	return r
}

// checkDecodable returns nil if there is a body to decode. Otherwise it returns the reason why not.
func (r Result) checkDecodable() error {
	if r.err != nil {
		return r.Error()
	}
	if r.decoder == nil {
		return fmt.Errorf("serializer for %s doesn't exist", r.contentType)
	}
	return nil
}

// statusFailure returns an error if obj is a Status of a failure, and nil otherwise.
func statusFailure(obj runtime.Object) error {
	if status, ok := obj.(*metav1.Status); ok && status.Status != metav1.StatusSuccess {
		return apierrors.FromObject(status)
	}
	return nil
}

// Get decodes the response. A Status of a failure is returned as an error.
func (r Result) Get() (runtime.Object, error) {
	if err := r.checkDecodable(); err != nil {
		return nil, err
	}
	if r.streamed != nil {
		return r.streamed.get(r.decoder)
	}
	out, _, err := r.decoder.Decode(r.body, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := statusFailure(out); err != nil {
		return nil, err
	}
	return out, nil
}

// Into decodes the response into obj, which may be nil. A Status of a failure is returned as an
// error.
func (r Result) Into(obj runtime.Object) error {
	if err := r.checkDecodable(); err != nil {
		return err
	}
	if r.streamed != nil {
		return r.streamed.into(r.decoder, obj)
	}
	if len(r.body) == 0 {
		return fmt.Errorf("0-length response with status code: %d and content type: %s", r.statusCode, r.contentType)
	}
	if intoList(r.body, r.contentType, r.decoder, obj, r.sharing) {
		return nil
	}
	out, _, err := r.decoder.Decode(r.body, nil, obj)
	if err != nil || out == obj {
		return err
	}
	return statusFailure(out)
}

// Error returns the error of the request. If the response is a Status of a failure, it is the
// error. Otherwise the status code determines the error. A body without a kind does not count as a
// Status.
func (r Result) Error() error {
	if r.err == nil || !apierrors.IsUnexpectedServerError(r.err) || len(r.body) == 0 || r.decoder == nil {
		return r.err
	}
	// with a default version, because old servers omit the version
	out, _, err := r.decoder.Decode(r.body, &schema.GroupVersionKind{Version: "v1"}, nil)
	if status, ok := out.(*metav1.Status); err == nil && ok && status.Status == metav1.StatusFailure {
		return apierrors.FromObject(status)
	}
	return r.err
}

// maxErrorBody limits the number of bytes that are read of an error response. As in client-go,
// other bodies are not limited, because lists and logs may have any size.
const maxErrorBody = 16 << 20

// bodyOf reads the body of a response. Of an error response it reads at most maxErrorBody bytes.
func bodyOf(resp *http.Response) ([]byte, error) {
	if isSuccess(resp) {
		return io.ReadAll(resp.Body)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
}

func isSuccess(resp *http.Response) bool {
	return resp.StatusCode >= http.StatusOK && resp.StatusCode <= http.StatusPartialContent
}

// read reads the body of a response and returns the Result.
func (r *Request) read(ctx context.Context, resp *http.Response, req *http.Request) Result {
	var body []byte
	if resp.Body != nil {
		data, err := bodyOf(resp)
		if err != nil {
			return Result{err: readError(err)}
		}
		body = data
	}
	r.logBody(ctx, "Response Body", body)
	warnings := handleWarnings(ctx, resp.Header, r.warningHandler)
	result := r.interpret(resp, req, body)
	result.warnings = warnings
	return result
}

// readError returns the error for a body that could not be read to its end.
func readError(err error) error {
	if strings.HasPrefix(err.Error(), "stream error: ") { // an HTTP/2 error
		return fmt.Errorf("stream error when reading response body, may be caused by closed connection. Please retry. Original error: %w", err)
	}
	return fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", err)
}

// interpret makes a Result from a response and its body.
func (r *Request) interpret(resp *http.Response, req *http.Request, body []byte) Result {
	result := Result{body: body, statusCode: resp.StatusCode, sharing: r.c.sharing}
	if result.contentType = resp.Header.Get("Content-Type"); result.contentType == "" {
		result.contentType = r.content.ContentType
	}
	success := resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode >= http.StatusOK && resp.StatusCode <= http.StatusPartialContent
	if result.contentType != "" {
		mediaType, params, err := mime.ParseMediaType(result.contentType)
		if err != nil {
			return Result{err: apierrors.NewInternalError(err)}
		}
		result.decoder, err = r.content.Negotiator.Decoder(mediaType, params)
		if err != nil {
			if !success {
				return Result{err: r.nonStatusError(body, resp, req)}
			}
			result.decoder = nil
			return result
		}
	}
	if !success {
		result.err = r.nonStatusError(body, resp, req)
	}
	return result
}

// maxUnstructured limits the number of bytes of a text body in an error.
const maxUnstructured = 2048

// nonStatusError returns the error for an error response that is not a Status. The status code
// determines the error.
func (r *Request) nonStatusError(body []byte, resp *http.Response, req *http.Request) error {
	message := "unknown"
	if isText(resp) {
		message = strings.TrimSpace(string(body[:min(len(body), maxUnstructured)]))
	}
	wait, ok := retryAfterSeconds(resp)
	if !ok {
		wait = 0
	}
	verb := r.verb
	if req != nil {
		verb = req.Method
	}
	resource := schema.GroupResource{}
	if r.resource != "" { // without a resource, the path need not belong to a group
		resource = schema.GroupResource{Group: r.content.GroupVersion.Group, Resource: r.resource}
	}
	return apierrors.NewGenericServerResponse(resp.StatusCode, verb, resource, r.name, message, wait, true)
}

// isText reports whether the body is text, so that an error may contain it. A response without a
// Content-Type counts as text.
func isText(resp *http.Response) bool {
	contentType := resp.Header.Get("Content-Type")
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && strings.HasPrefix(media, "text/")
}
