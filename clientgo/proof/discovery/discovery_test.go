// Package discovery compares clientgo's discovery, restmapper, openapi and scale with client-go's.
// Both send requests to the same servers, both working and broken.
package discovery_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences maps each case whose result differs from client-go's to the reason.
var differences = map[string]string{
	"aggregated groups only: client":                       "a stale version stays a failure, even if the resources are requested one by one",
	"aggregated groups only: without aggregated discovery": "as above: the server sends the aggregated form although the client did not request it",
	"category all, no error":                               "a category has each resource once, not once for each version",
	"category all, error partial":                          "as above",
}

func TestDiscoveryBehavesLikeClientGo(t *testing.T) { sides.Compare(t, 700, differences) }
