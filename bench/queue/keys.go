package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

const (
	pending    = 100_000 // how many keys are delayed
	inFlight   = 1000    // how many keys are added before they are waited for
	namespaces = 100
)

// keys are those of pods of deployments. The first pending of them are for being
// delayed, the others for whatever else.
var keys = makeKeys(pending + 16*inFlight)

// passing are the keys that come and go.
var passing = keys[pending:]

func makeKeys(n int) []types.NamespacedName {
	all := make([]types.NamespacedName, n)
	for i := range all {
		all[i] = types.NamespacedName{
			Namespace: fmt.Sprintf("team-%02d-production", i%namespaces),
			Name:      fmt.Sprintf("deployment-%08x-%05d", uint32(i)*2654435761, i%100_000),
		}
	}
	return all
}
