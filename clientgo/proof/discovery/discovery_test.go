// Package discovery compares clientgo's discovery, restmapper, openapi and scale with client-go's.
// Both send requests to the same servers, both working and broken.
package discovery_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences maps each case whose result differs from client-go's to the reason.
var differences = map[string]string{
	"aggregated groups only: client":                       "a version that a server calls stale stays a failure, also if the resources have to be asked for one by one",
	"aggregated groups only: without aggregated discovery": "as above: the server sends the aggregated form to those who don't want it",
	"category all, no error":                               "a resource is once in a category, not once for each version",
	"category all, error partial":                          "as above",
}

func TestDiscoveryBehavesLikeClientGo(t *testing.T) { sides.Compare(t, 700, differences) }
