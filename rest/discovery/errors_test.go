package discovery_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/discovery"
)

func TestCommonReasonIsReportedOnce(t *testing.T) {
	t.Parallel()
	asked := func(path string, reason error) error {
		return &rest.Error{Method: http.MethodGet, URL: "https://h" + path, Attempts: 1, Err: reason}
	}
	refused, forbidden := errors.New("connection refused"), errors.New("forbidden")
	for want, failures := range map[string][]discovery.Failure{
		"API discovery is incomplete: /api, /apis: GET https://h/api: connection refused": {
			{Path: "/api", Err: asked("/api", refused)}, {Path: "/apis", Err: asked("/apis", refused)},
		},
		"API discovery is incomplete: /apis/a/v1, /apis/c/v1: GET https://h/apis/a/v1: forbidden; /apis/b/v1: GET https://h/apis/b/v1: connection refused; /apis/d/v1: forbidden, too": {
			{Path: "/apis/a/v1", Err: asked("/apis/a/v1", forbidden)}, {Path: "/apis/b/v1", Err: asked("/apis/b/v1", refused)},
			{Path: "/apis/c/v1", Err: forbidden}, {Path: "/apis/d/v1", Err: errors.New("forbidden, too")},
		},
		"API discovery is incomplete: /api: forbidden": {{Path: "/api", Err: forbidden}},
	} {
		require.EqualError(t, &discovery.Error{Failures: failures}, want)
	}
}
