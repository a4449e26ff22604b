package discovery

import (
	"mime"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Media types of discovery documents. The parameters are in the order that servers expect.
const (
	AcceptV1       = runtime.ContentTypeJSON
	AcceptV2       = runtime.ContentTypeJSON + ";" + "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	AcceptV2NoPeer = runtime.ContentTypeJSON + ";" + "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer"
)

var aggregatedKind = schema.GroupVersionKind{Group: "apidiscovery.k8s.io", Version: "v2", Kind: "APIGroupDiscoveryList"}

// accept returns the Accept header for discovery documents, the preferred type first.
func (d *DiscoveryClient) accept() string {
	switch {
	case d.UseLegacyDiscovery:
		return AcceptV1
	case d.NoPeerDiscovery:
		return AcceptV2NoPeer + "," + AcceptV2 + "," + AcceptV1
	}
	return AcceptV2 + "," + AcceptV1
}

// ContentTypeIsGVK reports whether a Content-Type is JSON of the kind gvk. It compares the
// parameters g, v and as with gvk. It ignores their order and all other parameters. An unparsable
// Content-Type is an error.
func ContentTypeIsGVK(contentType string, gvk schema.GroupVersionKind) (bool, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false, err
	}
	is := schema.GroupVersionKind{Group: params["g"], Version: params["v"], Kind: params["as"]}
	return media == runtime.ContentTypeJSON && is == gvk, nil
}

// isAggregated reports whether a response is an aggregated document. An unknown type counts as a
// legacy document.
func isAggregated(contentType string) bool {
	is, err := ContentTypeIsGVK(contentType, aggregatedKind)
	return err == nil && is
}
