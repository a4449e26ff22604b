package wire

import (
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// These errors have no constructor in k8s.io/apimachinery, or have texts that only the real server
// has.

// NewStatusError returns an error with this Status.
func NewStatusError(code int, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}}
}

// NewNotAcceptable returns the error for a request that accepts no encoding of the resource.
func NewNotAcceptable(res *storage.Resource) error {
	types := JSONType
	if res.Protobuf() {
		types += ", " + ProtobufType
	}
	return NewStatusError(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"only the following media types are accepted: "+types)
}

// NewUnsupportedBody returns the error for a body in an unsupported encoding.
func NewUnsupportedBody(protobuf bool) error {
	accepted := JSONType + ", " + YAMLType
	if protobuf {
		accepted += ", " + ProtobufType
	}
	return NewUnsupportedMediaType(accepted)
}

// NewUnsupportedMediaType returns the error for a body whose type is not one of the accepted types.
func NewUnsupportedMediaType(accepted string) error {
	return NewStatusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
		"the body of the request was in an unknown format - accepted media types include: "+accepted)
}

// NewMethodNotAllowed returns the error for a verb that the resource does not support.
func NewMethodNotAllowed() error {
	err := NewStatusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
		"the server does not allow this method on the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// NewNoResource returns the error for a path at which nothing is served.
func NewNoResource() error {
	err := NewStatusError(http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// NewUnauthorized returns the error for a client that is not authenticated.
func NewUnauthorized() error {
	return NewStatusError(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
}

// NewOtherName returns the error for a body that names another object than the path.
func NewOtherName(name, inPath string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, inPath))
}

// NewOtherNamespace returns the error for a body that names another namespace than the path.
func NewOtherNamespace() error {
	return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
}

// NewExpired returns the error for a version after which changes have been dropped.
func NewExpired(version, oldest uint64) *apierrors.StatusError {
	return apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", version, oldest))
}

// NewTooLarge returns the error for a version in the future.
func NewTooLarge(version, current uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", version, current), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

// NewInvalidOptions combines parameter errors into one error.
func NewInvalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: kind}, "", errs)
}
