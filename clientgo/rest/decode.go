package rest

import (
	"os"
	"reflect"
	"sync"

	kinform "github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

// sharingVariable is the environment variable that says what objects of lists may share with each other: "constants", which is
// the default, "everything" or "nothing". README.md says what that means and what it costs.
const sharingVariable = "KINFORM_SHARING"

// decoding decodes all lists and watches of the process, so that one table has what they share.
var decoding = sync.OnceValue(newDecoding)

type decoders struct {
	client  *kinform.Client // for its budgets: it sends no request
	decoder *sharing.Decoder
	readers sync.Map // of the type of objects, to *kinform.BodyReader
}

func newDecoding() *decoders {
	client, err := kinform.NewClient(kinform.Config{Host: "http://localhost"}, kinform.Options{})
	if err != nil {
		return nil // lists are decoded by the program's codecs
	}
	options := sharing.Options{Constants: true}
	switch os.Getenv(sharingVariable) {
	case "everything":
		options.Constants = false
	case "nothing":
		options.MaxBytes = -1
	}
	return &decoders{client: client, decoder: sharing.New(options)}
}

// readerOf returns the reader of lists and watches whose objects are of a type, which is a pointer to a struct; or nil if it can't
// read this encoding.
func readerOf(object reflect.Type, encoding kinform.Encoding) *kinform.BodyReader {
	d := decoding()
	if d == nil {
		return nil
	}
	known, ok := d.readers.Load(object)
	if !ok {
		made, err := kinform.NewBodyReader(d.client, object, kinform.ResourceOptions{Decoder: d.decoder})
		if err != nil {
			made = nil
		}
		known, _ = d.readers.LoadOrStore(object, made)
	}
	reader := known.(*kinform.BodyReader)
	if reader == nil || !reader.Reads(encoding) {
		return nil
	}
	return reader
}
