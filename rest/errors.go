package rest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/transport"
	"github.com/kinform/kinform/rest/internal/wire"
)

// ErrClosed is wrapped by the error of every call after [Client.Close].
var ErrClosed = transport.ErrClosed

// errStreamClosed is the error of Next after Close.
var errStreamClosed = errors.New("the stream is closed")

// ErrMalformed is wrapped by each error about a response that no API server sends: the response is
// incomplete, of the wrong type, not JSON, and so on.
var ErrMalformed = wire.ErrMalformed

// ErrTooLarge is wrapped by errors about objects larger than [Options].MaxObjectBytes. For whole
// lists, see [listwatch.ErrListTooLarge].
var ErrTooLarge = wire.ErrTooLarge

// Error is a failure of a request, with the request that failed. It unwraps to the reason: the
// context's error, an error of the network, [ErrMalformed], or the server's Status, for which the
// predicates of k8s.io/apimachinery/pkg/api/errors work.
//
// The reason is the failure of the last attempt. The client retries verbs and Raw, up to
// [Options].MaxRetries times, with the same body, if a retry is safe and likely to help:
//
//   - After a 429 or 5xx with a Retry-After, in seconds or as a date. The client waits for this
//     time and up to a tenth more, so that clients retry at different times.
//   - After a lost connection, if the request is a GET. The client waits for a second.
//   - After a 401, once and without a wait, if the credential is from a file, a plugin or a
//     function: it may have a new credential by now.
//
// After any other failure, such as a timeout, a refused connection, or a 5xx without a Retry-After,
// the client does not retry (D20). The end of the context ends every wait at once.
type Error struct {
	Method string
	// URL is the address of the request, without credentials.
	URL string
	// StatusCode is the code of the response, or 0 if there was no response.
	StatusCode int
	// Attempts is the number of attempts, including the last one.
	Attempts int
	// Err is the reason why the last attempt failed. Previous is the reason why the attempt before
	// it failed, or nil.
	Err      error
	Previous error

	retryAfter string // the header of the response
	hint       string // says what the request may lack
}

// Error names the request and the reason. After several attempts, it also has their number, and the
// text of Previous if it differs (RS-14).
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	reason := reasonText(e.Err)
	text := e.Method + " " + e.URL + ": " + reason
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	if e.Attempts > 1 {
		text += " (attempt " + strconv.Itoa(e.Attempts) + ")"
	}
	if before := reasonText(e.Previous); e.Previous != nil && before != reason {
		text += "; before that: " + before
	}
	return text
}

// reasonText returns the text of a reason. If a Status has no message, the text has its reason and
// code.
func reasonText(err error) string {
	if err == nil {
		return "the reason is unknown"
	}
	text := err.Error()
	if statusErr, ok := err.(*apierrors.StatusError); ok && text == "" {
		text = "the server responded with " + strings.TrimSpace(strconv.Itoa(int(statusErr.ErrStatus.Code))+" "+string(statusErr.ErrStatus.Reason)) + ", without a message"
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// withHint adds a hint to the error of a request about one object, if the server refused the
// request. The hint says what the request may lack. namespace and body are of the request.
func withHint(err error, namespace string, body []byte) error {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	switch failed.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		refused, isStatus := errors.AsType[*apierrors.StatusError](failed.Err)
		ofObject := isStatus && refused.ErrStatus.Details != nil && refused.ErrStatus.Details.Name != ""
		if namespace == "" && !ofObject { // otherwise, the server did not find the object
			failed.hint = "no namespace was given, which most resources need: set it in the key or in metadata.namespace, or use ResourceOptions.Namespace"
		}
	case http.StatusBadRequest:
		if len(body) > 0 && !hasKind(body) {
			failed.hint = "the body has no kind or no apiVersion, but a custom resource needs both: set ResourceOptions.Kind, or kind and apiVersion in the object"
		}
	}
	return err
}

// hasKind reports whether an object in JSON has both a kind and an apiVersion.
func hasKind(object []byte) bool {
	found := 0
	for key, value := range wire.JSONFields(object) {
		if (string(key) == "kind" || string(key) == "apiVersion") && len(wire.JSONText(value)) > 0 {
			found++
		}
	}
	return found == 2
}

// connectionLostError returns the error for a response whose end did not arrive. It does not wrap
// ErrMalformed, because the server may be healthy: perhaps a proxy ended the connection, or
// somebody stopped the server.
func connectionLostError(err error) error {
	return fmt.Errorf("the connection was lost within the response: %w", err)
}

// statusError converts a response that reports a failure into an error for which the predicates of
// apierrors work. The error has the server's Status, or otherwise a Status made from the code.
func statusError(method string, response *http.Response, body []byte, target requestTarget) error {
	retryAfter, _ := retryAfterSeconds(response.Header.Get("Retry-After"), time.Now())
	if status := parseStatus(response.Header.Get("Content-Type"), body); status != nil {
		if status.Code == 0 {
			status.Code = int32(response.StatusCode)
		}
		if retryAfter > 0 {
			if status.Details == nil {
				status.Details = &metav1.StatusDetails{}
			}
			if status.Details.RetryAfterSeconds == 0 {
				status.Details.RetryAfterSeconds = int32(retryAfter)
			}
		}
		return &apierrors.StatusError{ErrStatus: *status}
	}
	text := failureText(response, body)
	err := apierrors.NewGenericServerResponse(response.StatusCode, method,
		schema.GroupResource{Group: target.Resource.Group, Resource: target.Resource.Resource}, target.name, text, retryAfter, true)
	if message := &err.ErrStatus.Message; *message == "" {
		*message = text
	} else if text != "" && response.StatusCode < 500 && !strings.Contains(*message, text) {
		*message = fmt.Sprintf("%s: %q", *message, wire.Excerpt([]byte(text), 256))
	}
	return err
}

// parseStatus returns the Status in body, or nil if body is not a Status.
func parseStatus(contentType string, body []byte) *metav1.Status {
	mediaType, _, _ := mime.ParseMediaType(contentType)
	var status metav1.Status
	if mediaType == mediaTypeProtobuf {
		_, kind, raw, err := wire.Unwrap(body, false)
		if err != nil || string(kind) != "Status" {
			return nil
		}
		if status, err = decode.ReadStatus(raw); err != nil {
			return nil
		}
	} else if kjson.UnmarshalCaseSensitivePreserveInts(body, &status) != nil || status.Kind != "Status" {
		return nil
	}
	if status.Status == metav1.StatusSuccess {
		return nil
	}
	decode.TruncateStatus(&status)
	return &status
}

// failureText returns the text that an error shows for a response whose body is not a Status.
func failureText(response *http.Response, body []byte) string {
	if location := response.Header.Get("Location"); location != "" && response.StatusCode/100 == 3 {
		to := ""
		if u, err := url.Parse(location); err == nil {
			// path and query may contain a password or a token
			to = " to " + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
		}
		return "redirected" + to + ", but redirects are not followed"
	}
	return wire.Excerpt(body, decode.MaxTextBytes)
}

// retryAfterSeconds parses a Retry-After header, which is a number of seconds or a date. ok is
// false if it is neither. More than a day counts as a day.
func retryAfterSeconds(header string, now time.Time) (seconds int, ok bool) {
	if seconds, err := strconv.Atoi(header); err == nil {
		return min(max(seconds, 0), decode.MaxRetryAfter), seconds >= 0
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	wait := min(max(at.Sub(now), 0), decode.MaxRetryAfter*time.Second)
	return int((wait + time.Second - 1) / time.Second), true
}
