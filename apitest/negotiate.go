package apitest

import (
	"mime"
	"net/http"
	"strings"
)

const (
	jsonType     = "application/json"
	yamlType     = "application/yaml" // only read, never written
	protobufType = "application/vnd.kubernetes.protobuf"
)

// format is the encoding of a body.
type format struct {
	protobuf bool
	metadata bool // each object as a PartialObjectMetadata

	// The fields of a Table: include is the part of each object that a row includes. If noHeadings
	// is set, the client already has the column headings.
	table      bool
	include    string
	noHeadings bool
}

// contentType returns the header of a body in this format.
func (f format) contentType() string {
	if f.protobuf {
		return protobufType
	}
	return jsonType
}

// streamType returns the header of a watch in this format.
func (f format) streamType() string {
	if f.protobuf {
		return protobufType + ";stream=watch"
	}
	return jsonType
}

// negotiate returns the format of the first acceptable clause in an Accept header. If ok is false,
// no clause is acceptable. If protobuf is false, only metadata is available in protobuf, as for
// custom resources.
func negotiate(accept string, protobuf bool) (f format, ok bool) {
	if accept == "" {
		return format{}, true
	}
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		f.metadata, f.table = false, false
		switch as := params["as"]; {
		case as == "Table":
			if params["g"] != "meta.k8s.io" || params["v"] != "v1" || mediaType == protobufType {
				continue
			}
			f.table = true
		case as == "PartialObjectMetadata" || as == "PartialObjectMetadataList":
			if params["g"] != "meta.k8s.io" || params["v"] != "v1" {
				continue
			}
			f.metadata = true
		case as != "":
			continue
		}
		switch mediaType {
		case jsonType, "application/*", "*/*":
			f.protobuf = false
			return f, true
		case protobufType:
			if protobuf || f.metadata {
				f.protobuf = true
				return f, true
			}
		}
	}
	return format{}, false
}

// negotiate returns the format of a response about the resource of a request.
func (r *Request) negotiate() (format, error) {
	f, ok := negotiate(r.HTTP.Header.Get("Accept"), r.res.Protobuf())
	if !ok {
		return f, errNotAcceptable(r.res)
	}
	f.include = r.query.Get("includeObject")
	return f, nil
}

// acceptsProtobuf reports whether a response that is not an object, such as an error, may be
// written in protobuf.
func acceptsProtobuf(r *http.Request) bool {
	f, ok := negotiate(r.Header.Get("Accept"), true)
	return ok && f.protobuf
}
