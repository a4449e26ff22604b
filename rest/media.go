package rest

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/kinform/kinform/rest/internal/wire"
)

// These are the media types of API objects in Content-Type.
const (
	mediaTypeJSON     = "application/json"
	mediaTypeProtobuf = "application/vnd.kubernetes.protobuf"
)

// Encoding is an encoding of objects.
type Encoding uint8

// These are the encodings that a Resource can request.
const (
	// Automatic requests protobuf if T can decode it, with JSON as the second choice. Otherwise it
	// requests JSON.
	Automatic Encoding = 0
	// JSON requests only JSON.
	JSON = Encoding(wire.JSON)
	// Protobuf requests only protobuf. T must be able to decode it.
	Protobuf = Encoding(wire.Protobuf)
)

// String returns the name of the encoding.
func (e Encoding) String() string {
	switch e {
	case Automatic:
		return "automatic"
	case JSON:
		return "JSON"
	case Protobuf:
		return "protobuf"
	default:
		return "unknown"
	}
}

// accept returns the Accept header that requests the encoding.
func (e Encoding) accept() string {
	switch e {
	case JSON:
		return mediaTypeJSON
	case Protobuf:
		return mediaTypeProtobuf
	default:
		return mediaTypeProtobuf + ", " + mediaTypeJSON
	}
}

// acceptMetadata returns an Accept header that requests only the metadata of objects. Its last
// choice is accept, for servers that cannot send metadata alone.
func acceptMetadata(accept string, list bool) string {
	as := ";as=PartialObjectMetadata"
	if list {
		as += "List"
	}
	as += ";g=meta.k8s.io;v=v1, "
	return strings.ReplaceAll(accept+", ", ", ", as) + accept
}

// encodingOf returns the encoding of a response. A response without a Content-Type counts as JSON.
// For any other type, the error shows the start of the response, because it may be a proxy's page
// that says what is wrong.
func encodingOf(response *http.Response) (Encoding, error) {
	if c := response.Header.Get("Content-Encoding"); c != "" && c != "identity" {
		return 0, wire.Malformed("content encoding %.64q, which was not requested", c)
	}
	header := response.Header.Get("Content-Type")
	if header == "" {
		return JSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	switch {
	case err != nil:
		return 0, wire.Malformed("content type %.128q: %w", header, err)
	case mediaType == mediaTypeJSON:
		return JSON, nil
	case mediaType == mediaTypeProtobuf:
		return Protobuf, nil
	}
	start, _ := io.ReadAll(io.LimitReader(response.Body, 256))
	return 0, wire.Malformed("content type %.128q instead of JSON or protobuf, starting with %q", header, wire.BodyExcerpt(start))
}

func bodyReader(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(body)
}
