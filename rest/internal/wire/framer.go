package wire

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Framer finds the frames in a stream of bytes that arrives in pieces.
type Framer interface {
	// NextFrame returns the first frame of data. The result done is the number of bytes that the
	// Framer no longer needs, including the frame. A frame without Data means that the Framer needs
	// more bytes. The next call must get the data from data[done] on.
	NextFrame(data []byte) (f Frame, done int, err error)

	// End returns the error for a stream that has ended. The slice rest has the bytes after the
	// last frame. The error is io.EOF if the end is orderly, and otherwise names the missing part.
	End(rest []byte) error

	// Incomplete reports whether further bytes must follow, even if no bytes are left after the
	// last frame. It always returns true for a list. For a watch it returns true while the Framer
	// skips the rest of an event.
	Incomplete() bool

	// Envelope returns the fields around the frames that the Framer has read so far.
	Envelope() Envelope
}

// Frame has the bytes of one object or event. If Err is set, Data has only the first bytes, and the
// Framer skips the rest.
type Frame struct {
	Data []byte
	Err  error
	Size JSONSize // in JSON
}

// Envelope has the kind and the metadata of a list.
type Envelope struct {
	APIVersion, Kind string

	ResourceVersion string
	Continue        string
	Remaining       int64 // items on later pages, 0 if unknown

	// OtherFields has the other fields of a list in JSON, without the items. Each field is as the
	// server encoded it, with a comma before it. The Framer appends later fields.
	OtherFields []byte
}

// setListMeta copies the metadata of a list into e.
func (e *Envelope) setListMeta(meta *metav1.ListMeta) error {
	e.ResourceVersion, e.Continue = meta.ResourceVersion, meta.Continue
	if meta.RemainingItemCount != nil {
		e.Remaining = *meta.RemainingItemCount
	}
	if len(meta.Continue) > MaxTokenBytes {
		return Malformed("a continue token of %d bytes", len(meta.Continue))
	}
	return CheckVersion(meta.ResourceVersion)
}

// These constants limit versions and continue tokens. Clients send both back to the server, which
// accepts requests of at most a megabyte. A version of Kubernetes is a number of up to 20 digits. A
// continue token contains a key.
const (
	maxVersionBytes = 1 << 10
	MaxTokenBytes   = 512 << 10
)

// maxOtherFieldsBytes limits the other fields of a list, without the items. A server sends less
// than 1 KiB, and a continue token.
const maxOtherFieldsBytes = 1 << 20

// CheckVersion returns an error for a resourceVersion that is too long.
func CheckVersion[S ~string | ~[]byte](version S) error {
	if len(version) > maxVersionBytes {
		return Malformed("a resourceVersion of %d bytes", len(version))
	}
	return nil
}
