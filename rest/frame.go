package rest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/listwatch"
)

// A cutter finds the frames in a stream of bytes that arrives in pieces. A frame
// is the encoding of one object, or of one watch event.
type cutter interface {
	// cut returns the first frame of data, and how many bytes of data are done
	// with, that frame included. A frame without data means that more bytes are
	// needed; the next call then gets data from where this one left off.
	cut(data []byte) (f frame, done int, err error)

	// end says what it means that the stream ended and left rest: io.EOF if that
	// is orderly, and otherwise what is missing.
	end(rest []byte) error

	// within says whether something has begun of which the rest is skipped.
	within() bool

	// envelope is what has been read so far around the frames.
	envelope() envelope
}

// frame is the bytes of one object or event, or, with an error, the start of one
// that is skipped.
type frame struct {
	data []byte
	err  error
	size jsonSize // in JSON
}

// envelope is what a list says about itself.
type envelope struct {
	apiVersion string
	kind       string
	meta       listwatch.ListMeta
}

// take takes over what a list says about itself.
func (e *envelope) take(meta *metav1.ListMeta) error {
	e.meta = listwatch.ListMeta{ResourceVersion: meta.ResourceVersion, Continue: meta.Continue}
	if meta.RemainingItemCount != nil {
		e.meta.RemainingItemCount = *meta.RemainingItemCount
	}
	if len(meta.Continue) > maxTokenBytes {
		return malformed("a continue token of %d bytes", len(meta.Continue))
	}
	return checkVersion(meta.ResourceVersion)
}
