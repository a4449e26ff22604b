package rest

import (
	"context"
	"net/url"
)

// RawOptions are the optional settings of Raw. The zero value is ready for use.
type RawOptions struct {
	// Query is appended to the path.
	Query url.Values

	// Accept is the Accept header. Defaults to "application/json".
	Accept string

	// Body is the body of the request. ContentType is its Content-Type header, which defaults to
	// "application/json".
	Body        []byte
	ContentType string
}

// Raw sends a request to an absolute path of the API server, such as "/apis", and returns the
// unchanged body of the response. A response with a code other than 2xx is an error, for which the
// predicates of apierrors work. A response larger than [Options].MaxObjectBytes is an error as
// well. Raw retries like a verb; see [Error].
func (c *Client) Raw(ctx context.Context, method, path string, opts RawOptions) ([]byte, error) {
	var body []byte
	info := RequestInfo{Verb: "raw"}
	err := c.withRetries(ctx, method, info, func() error {
		x, err := c.send(ctx, request{
			method: method, path: path, query: opts.Query, accept: orDefault(opts.Accept, mediaTypeJSON),
			body: opts.Body, contentType: opts.ContentType, anyContent: true, target: requestTarget{RequestInfo: info},
		})
		if err != nil {
			return err
		}
		defer x.close()
		if body, err = x.body(c.maxObjectBytes); err != nil {
			return x.wrapError(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}
