package wire

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Cutter finds the frames in a stream of bytes that arrives in pieces.
type Cutter interface {
	// Cut returns the first frame of data, and how many bytes of data are done
	// with, that frame included. A frame without data means that more bytes are
	// needed; the next call then gets data from where this one left off.
	Cut(data []byte) (f Frame, done int, err error)

	// End says what it means that the stream ended and left rest: io.EOF if that
	// is orderly, and otherwise what is missing.
	End(rest []byte) error

	// Within says whether more bytes must come although all have been cut: a list goes on,
	// or the rest of an event is skipped.
	Within() bool

	// Envelope returns what has been read so far around the frames.
	Envelope() Envelope
}

// Frame is the bytes of one object or event, or, with an error, the start of one
// that is skipped.
type Frame struct {
	Data []byte
	Err  error
	Size JSONSize // in JSON
}

// Envelope is what a list says about itself.
type Envelope struct {
	APIVersion, Kind string

	ResourceVersion string
	Continue        string
	Remaining       int64 // items on later pages, 0 where that is not known
}

// take takes over the metadata of a list.
func (e *Envelope) take(meta *metav1.ListMeta) error {
	e.ResourceVersion, e.Continue = meta.ResourceVersion, meta.Continue
	if meta.RemainingItemCount != nil {
		e.Remaining = *meta.RemainingItemCount
	}
	if len(meta.Continue) > MaxTokenBytes {
		return Malformed("a continue token of %d bytes", len(meta.Continue))
	}
	return CheckVersion(meta.ResourceVersion)
}

// Clients send versions and tokens back to the server. A version of Kubernetes is a number
// of up to 20 digits. The token of a page has a key in it. A server takes requests of a
// megabyte.
const (
	maxVersionBytes = 1 << 10
	MaxTokenBytes   = 512 << 10
)

// CheckVersion refuses a resourceVersion that is too long to be one.
func CheckVersion[S ~string | ~[]byte](version S) error {
	if len(version) > maxVersionBytes {
		return Malformed("a resourceVersion of %d bytes", len(version))
	}
	return nil
}
