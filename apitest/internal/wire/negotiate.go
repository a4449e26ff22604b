package wire

import (
	"mime"
	"net/http"
	"strings"
)

// The media types of bodies.
const (
	JSONType     = "application/json"
	YAMLType     = "application/yaml" // only read, never written
	ProtobufType = "application/vnd.kubernetes.protobuf"
)

// Format is the encoding of a body.
type Format struct {
	Protobuf bool
	metadata bool // each object as a PartialObjectMetadata

	// The fields of a Table: include is the part of each object that a row includes. If noHeadings
	// is set, the client already has the column headings.
	Table      bool
	Include    string
	NoHeadings bool
}

// ContentType returns the header of a body in this format.
func (f Format) ContentType() string {
	if f.Protobuf {
		return ProtobufType
	}
	return JSONType
}

// StreamType returns the header of a watch in this format.
func (f Format) StreamType() string {
	if f.Protobuf {
		return ProtobufType + ";stream=watch"
	}
	return JSONType
}

// Negotiate returns the format of the first acceptable clause in an Accept header. If ok is false,
// no clause is acceptable. If protobuf is false, only metadata is available in protobuf, as for
// custom resources.
func Negotiate(accept string, protobuf bool) (f Format, ok bool) {
	if accept == "" {
		return Format{}, true
	}
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		f.metadata, f.Table = false, false
		switch as := params["as"]; {
		case as == "Table":
			if params["g"] != "meta.k8s.io" || params["v"] != "v1" || mediaType == ProtobufType {
				continue
			}
			f.Table = true
		case as == "PartialObjectMetadata" || as == "PartialObjectMetadataList":
			if params["g"] != "meta.k8s.io" || params["v"] != "v1" {
				continue
			}
			f.metadata = true
		case as != "":
			continue
		}
		switch mediaType {
		case JSONType, "application/*", "*/*":
			f.Protobuf = false
			return f, true
		case ProtobufType:
			if protobuf || f.metadata {
				f.Protobuf = true
				return f, true
			}
		}
	}
	return Format{}, false
}

// acceptsProtobuf reports whether a response that is not an object, such as an error, may be
// written in protobuf.
func acceptsProtobuf(r *http.Request) bool {
	f, ok := Negotiate(r.Header.Get("Accept"), true)
	return ok && f.Protobuf
}
