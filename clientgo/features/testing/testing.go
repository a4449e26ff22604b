// Package testing turns features on and off in tests.
package testing

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/features"
)

// featureGatesSetter is the method set that SetFeatureDuringTest needs from the process's gates.
type featureGatesSetter interface {
	features.Gates
	Set(key features.Feature, on bool) error
}

var (
	mu sync.Mutex // guards following
	// maps a changed feature to the name of the test that changed it
	setBy = map[features.Feature]string{}
)

// SetFeatureDuringTest turns a feature on or off until the test ends. It prefers the gates' method
// SetForTesting, which changes locked features too, to their method Set. It panics if the gates
// have neither. It fails the test if the gates return an error. It also fails if a concurrent test
// has changed the feature, because a process has one set of features.
func SetFeatureDuringTest(tb testing.TB, feature features.Feature, featureValue bool) {
	tb.Helper()
	current, ok := features.FeatureGates().(featureGatesSetter)
	if !ok {
		panic(fmt.Errorf("clientfeatures.FeatureGates(): %T does not implement featureGatesSetter interface", features.FeatureGates()))
	}
	set := current.Set
	if testing, ok := current.(interface {
		SetForTesting(key features.Feature, on bool) error
	}); ok {
		set = testing.SetForTesting
	}
	mu.Lock()
	defer mu.Unlock()
	before, by := current.Enabled(feature), setBy[feature]
	if by != "" && by != tb.Name() && !strings.HasPrefix(tb.Name(), by+"/") {
		tb.Fatalf("feature %s cannot be set: test %s has set it and runs at the same time", feature, by)
	}
	if err := set(feature, featureValue); err != nil {
		tb.Fatal(err)
	}
	setBy[feature] = tb.Name()
	tb.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		setBy[feature] = by
		if err := set(feature, before); err != nil {
			tb.Errorf("feature %s cannot be set back to %t: %v", feature, before, err)
		}
	})
}
