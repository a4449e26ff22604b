package apitest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// These errors have no constructor in k8s.io/apimachinery, or have texts that only the real server
// has.

func newStatusError(code int, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
}

func errNotAcceptable(res *storage.Resource) error {
	types := jsonType
	if res.Protobuf() {
		types += ", " + protobufType
	}
	return newStatusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+types)
}

// errUnsupportedBody returns the error for a body in an unsupported encoding.
func errUnsupportedBody(protobuf bool) error {
	accepted := jsonType + ", " + yamlType
	if protobuf {
		accepted += ", " + protobufType
	}
	return errUnsupportedMediaType(accepted)
}

func errUnsupportedMediaType(accepted string) error {
	return newStatusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+accepted)
}

func errMethodNotAllowed() error {
	err := newStatusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// errNoResource returns the error for a path at which nothing is served.
func errNoResource() error {
	err := newStatusError(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

func errUnauthorized() error {
	return newStatusError(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
}

// errOtherName returns the error for a body that names another object than the path.
func errOtherName(name, inPath string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, inPath))
}

// errOtherNamespace returns the error for a body that names another namespace than the path.
func errOtherNamespace() error {
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// errExpired returns the error for a version after which changes have been dropped.
func errExpired(version, oldest uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, oldest))
}

// errTooLarge returns the error for a version in the future.
func errTooLarge(version, current uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", version, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

// errStatus returns the Status of an error: its own Status, or the Status of an internal error.
func errStatus(err error) metav1.Status {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if api := (apierrors.APIStatus)(nil); errors.As(err, &api) {
		status = api.Status()
	}
	return withType(status)
}

func withType(status metav1.Status) metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// writeStatus responds with a Status. It uses protobuf if the client prefers that.
func writeStatus(w http.ResponseWriter, r *http.Request, status metav1.Status) {
	var body []byte
	if acceptsProtobuf(r) {
		w.Header().Set("Content-Type", protobufType)
		body = protoStatus(status)
	} else {
		w.Header().Set("Content-Type", jsonType)
		body = append(apiobject.MustJSON(status), '\n')
	}
	if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(d.RetryAfterSeconds)))
	}
	w.WriteHeader(cmp.Or(int(status.Code), http.StatusOK)) // a Status of success has no code
	_, _ = w.Write(body)
}

// protoStatus returns a Status as a protobuf body.
func protoStatus(status metav1.Status) []byte {
	raw, err := status.Marshal()
	if err != nil {
		panic("apitest: encoding a Status: " + err.Error())
	}
	return append(appendEnvelope(nil, status.APIVersion, status.Kind, len(raw)), append(raw, apiobject.EnvelopeEnd...)...)
}
