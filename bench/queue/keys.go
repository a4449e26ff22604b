package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

const (
	pending    = 100_000 // number of delayed keys
	inFlight   = 1000    // number of keys that are added before a wait
	namespaces = 100
)

// keys look like the keys of deployments' pods. The first pending keys are for delays, and the
// others for everything else.
var keys = makeKeys(pending + 16*inFlight)

// otherKeys has the keys for everything else.
var otherKeys = keys[pending:]

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
