// Package apply makes requests for server-side apply.
package apply

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// NewRequest returns a request that applies the configuration. The caller adds the resource and
// name. The body is JSON, which is also valid YAML.
//
// client-go sends CBOR if the feature gates ClientsAllowCBOR and ClientsPreferCBOR are set. Servers
// accept both formats, so this package supports only JSON.
func NewRequest(client rest.Interface, applyConfiguration interface{}) (*rest.Request, error) {
	body, err := json.Marshal(applyConfiguration)
	if err != nil {
		return nil, fmt.Errorf("could not encode the configuration of type %T: %w", applyConfiguration, err)
	}
	return client.Patch(types.ApplyYAMLPatchType).Body(body), nil
}
