package discovery

import (
	"mime"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Media types of documents of discovery. The parameters are in the order that servers expect.
const (
	AcceptV1       = runtime.ContentTypeJSON
	AcceptV2       = runtime.ContentTypeJSON + ";" + "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	AcceptV2NoPeer = runtime.ContentTypeJSON + ";" + "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;profile=nopeer"
)

var aggregatedKind = schema.GroupVersionKind{Group: "apidiscovery.k8s.io", Version: "v2", Kind: "APIGroupDiscoveryList"}

// accept returns which documents a client asks for, the best first.
func (d *DiscoveryClient) accept() string {
	switch {
	case d.UseLegacyDiscovery:
		return AcceptV1
	case d.NoPeerDiscovery:
		return AcceptV2NoPeer + "," + AcceptV2 + "," + AcceptV1
	}
	return AcceptV2 + "," + AcceptV1
}

// ContentTypeIsGVK returns whether a Content-Type is JSON of a kind, by the parameters g, v and as. Their order, and other parameters,
// don't matter. A Content-Type that cannot be read is an error.
func ContentTypeIsGVK(contentType string, gvk schema.GroupVersionKind) (bool, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false, err
	}
	is := schema.GroupVersionKind{Group: params["g"], Version: params["v"], Kind: params["as"]}
	return media == runtime.ContentTypeJSON && is == gvk, nil
}

// isAggregated returns whether an answer is an aggregated document. Anything unknown is taken for a legacy one.
func isAggregated(contentType string) bool {
	is, err := ContentTypeIsGVK(contentType, aggregatedKind)
	return err == nil && is
}
