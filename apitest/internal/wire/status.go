package wire

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// StatusOf returns the Status of an error: its own Status, or the Status of an internal error.
func StatusOf(err error) metav1.Status {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if api := (apierrors.APIStatus)(nil); errors.As(err, &api) {
		status = api.Status()
	}
	return WithType(status)
}

// WithType sets the kind and the apiVersion of a Status.
func WithType(status metav1.Status) metav1.Status {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return status
}

// WriteStatus responds with a Status. It uses protobuf if the client prefers that.
func WriteStatus(w http.ResponseWriter, r *http.Request, status metav1.Status) {
	var body []byte
	if acceptsProtobuf(r) {
		w.Header().Set("Content-Type", ProtobufType)
		body = protoStatus(status)
	} else {
		w.Header().Set("Content-Type", JSONType)
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
