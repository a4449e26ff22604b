package apitest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
)

const metadataOnly = jsonType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// FuzzRequest: the server responds to every request. A response has code 500 only if the real
// server's response has it.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][5]string{
		{"GET", "/api/v1/pods?limit=1&continue=eyJydiI6MX0", "", "", protoType + ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"},
		{"GET", "/api/v1/pods?watch=1&sendInitialEvents=1&resourceVersionMatch=NotOlderThan&fieldSelector=a%3Db", "", "", jsonType},
		{"POST", podsPath, jsonPod(`"generateName":"x-"`, `,"spec":{"containers":[]}`), jsonType, jsonType},
		{"POST", podsPath, "k8s\x00\x0a\x00\x12\x02\x0a\x00", protoType, protoType},
		{"PUT", podsPath + "/p/status", jsonPod(`"name":"p"`, ""), jsonType, ""},
		{"PATCH", podsPath + "/p", `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`, jsonPatch, ""},
		{"PATCH", podsPath + "/p", `{"metadata":{"finalizers":null,"labels":{"a":{}}}}`, mergePatch, ""},
		{"PATCH", podsPath + "/p", `{"$setElementOrder/x":[{}],"spec":{"$setElementOrder/containers":[{"name":{}}],"containers":[{"name":"c","$patch":"delete"}]}}`, strategicPatch, ""},
		{"PATCH", "/apis/example.com/v1/namespaces/a/widgets/w", `{"spec":{"color":[]},"metadata":{"labels":[]}}`, mergePatch, ""},
		{"POST", definitionsPath, gadgets, jsonType, ""},
		{"DELETE", podsPath + "/p", `{"preconditions":{"uid":"x"}}`, jsonType, ""},
		{"DELETE", podsPath, "k8s\x00", protoType, protoType},
		{"GET", "/openapi/v3/api/v1", "", "", aggregated},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, method, target, body, contentType, accept string) {
		at, err := url.ParseRequestURI(target)
		if err != nil || !strings.HasPrefix(target, "/") {
			t.Skip("nothing that a client could send")
		}
		srv := apitest.New(apitest.Options{Resources: []apitest.Resource{widgets}})
		defer srv.Close()
		create(t, srv, pod("a", "p"), widget("a", "w", "red"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // so that a watch ends at once
		req := (&http.Request{
			Method: method, URL: at, Header: http.Header{"Content-Type": {contentType}, "Accept": {accept}},
			Body: http.NoBody, Host: "fuzz",
		}).WithContext(ctx)
		if body != "" {
			req.Body = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)).Body
		}
		rec := httptest.NewRecorder()
		srv.ServeHTTP(rec, req)
		if rec.Code == http.StatusInternalServerError && !strings.Contains(rec.Body.String(), "resourceVersion should not be set") {
			t.Fatalf("%s %s: %s", method, target, rec.Body)
		}
		// All stored objects can still be decoded.
		for _, path := range []string{"/api/v1/pods", "/apis/example.com/v1/widgets"} {
			for _, accept := range []string{jsonType, protoType + "," + jsonType, metadataOnly, strings.Replace(metadataOnly, jsonType, protoType, 1)} {
				req := httptest.NewRequest(http.MethodGet, path, nil)
				req.Header.Set("Accept", accept)
				rec := httptest.NewRecorder()
				srv.ServeHTTP(rec, req)
				require.Equal(t, http.StatusOK, rec.Code)
			}
		}
	})
}
