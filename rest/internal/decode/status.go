package decode

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

// These bounds apply to a response that reports a failure. A Status may name many causes; an error
// shows only the start of any text (RS-19). A Retry-After of more than a day counts as a day.
const (
	MaxStatusBytes = 1 << 20
	MaxRetryAfter  = 24 * 60 * 60 // seconds
	MaxTextBytes   = 2048         // of one text
	maxCauses      = 256
)

// ReadStatus decodes a Status in protobuf.
func ReadStatus(message []byte) (status metav1.Status, err error) {
	err = wire.CatchPanic(func() error { return status.Unmarshal(message) })
	return status, err
}

// TruncateStatus truncates the texts and the causes of a server's Status.
func TruncateStatus(status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{}
	status.Message = TruncatedText(status.Message)
	status.Reason = metav1.StatusReason(TruncatedText(string(status.Reason)))
	status.Status, status.ListMeta = metav1.StatusFailure, metav1.ListMeta{}
	if details := status.Details; details != nil {
		for _, text := range []*string{&details.Name, &details.Group, &details.Kind, (*string)(&details.UID)} {
			*text = TruncatedText(*text)
		}
		details.RetryAfterSeconds = min(max(details.RetryAfterSeconds, 0), MaxRetryAfter)
		details.Causes = slices.Clone(details.Causes[:min(len(details.Causes), maxCauses)])
		for i := range details.Causes {
			cause := &details.Causes[i]
			cause.Message, cause.Field, cause.Type = TruncatedText(cause.Message), TruncatedText(cause.Field), metav1.CauseType(TruncatedText(string(cause.Type)))
		}
	}
}

// TruncatedText returns the start of a text, as an error shows it.
func TruncatedText(text string) string {
	if len(text) <= MaxTextBytes {
		return text
	}
	return wire.Excerpt([]byte(text), MaxTextBytes)
}
