package apitest

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/discovery"
	"github.com/kinform/kinform/apitest/internal/openapi"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// serveNonResource handles requests that are not for a resource: discovery, OpenAPI, version and
// health.
func (s *Server) serveNonResource(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		wire.WriteStatus(w, r, wire.StatusOf(wire.NewMethodNotAllowed()))
		return
	}
	path := strings.TrimSuffix(r.URL.Path, "/")
	served := s.catalog()
	aggregated := !s.opts.NoAggregatedDiscovery && discovery.AcceptsAggregated(r.Header.Get("Accept"))
	var doc any
	switch parts := strings.Split(path, "/")[1:]; {
	case isHealth(path):
		_, _ = w.Write([]byte("ok"))
		return
	case path == "/version":
		doc = version.Info{Major: "1", Minor: "37", GitVersion: "v1.37.2+apitest", Platform: "memory"}
	case path == "/api" && aggregated, path == "/apis" && aggregated:
		w.Header().Set("Content-Type", discovery.AggregatedType)
		_, _ = w.Write(append(apiobject.MustJSON(served.Aggregated(path == "/api")), '\n'))
		return
	case path == "/api":
		doc = metav1.APIVersions{
			TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
			Versions:                   []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: r.Host}},
		}
	case path == "/apis":
		doc = metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: served.Groups()}
	case len(parts) == 2 && parts[0] == "apis":
		doc = served.Group(parts[1])
	case len(parts) == 2 && parts[0] == "api":
		doc = served.ResourcesIn(schema.GroupVersion{Version: parts[1]})
	case len(parts) == 3 && parts[0] == "apis":
		doc = served.ResourcesIn(schema.GroupVersion{Group: parts[1], Version: parts[2]})
	case path == "/openapi/v2":
		contentType, body := s.openAPI.V2(served.Resources, r.Header.Get("Accept"))
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
		return
	case path == "/openapi/v3":
		doc = openapi.Index(served.Resources)
	case strings.HasPrefix(path, "/openapi/v3/"):
		if body := s.openAPI.V3(served.Resources, strings.TrimPrefix(path, "/openapi/v3/")); body != nil {
			doc = json.RawMessage(body)
		}
	}
	if doc == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", wire.JSONType)
	_, _ = w.Write(append(apiobject.MustJSON(doc), '\n'))
}

func isHealth(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/livez"
}
