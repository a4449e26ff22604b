// Package discovery holds clientgo's discovery, restmapper, openapi and scale against client-go's: the same servers, whole and broken,
// are asked by both.
package discovery_test

import (
	"testing"

	"github.com/kinform/kinform/clientgo/proof/internal/sides"
)

// differences are the cases of which something else becomes here, and why.
var differences = map[string]string{
	"aggregated groups only: client":                       "a version that a server calls stale stays a failure, also if the resources have to be asked for one by one",
	"aggregated groups only: without aggregated discovery": "as above: the server sends the aggregated form to those who don't want it",
	"category all, no error":                               "a resource is once in a category, not once for each version",
	"category all, error partial":                          "as above",
}

func TestTheSameServersAsInClientGo(t *testing.T) { sides.TestTheSame(t, 700, differences) }
