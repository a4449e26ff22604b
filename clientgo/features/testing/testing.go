// Package testing switches features in tests.
package testing

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/features"
)

// featureGatesSetter is what the process's gates need for SetFeatureDuringTest.
type featureGatesSetter interface {
	features.Gates
	Set(key features.Feature, on bool) error
}

var (
	mu       sync.Mutex                      // guards following
	switched = map[features.Feature]string{} // has the name of the test that has switched a feature
)

// SetFeatureDuringTest switches a feature on or off until the test ends. Gates with a method SetForTesting are set by it,
// which takes locked features too; other gates are set by their method Set. It panics if they have no Set. It fails the test if
// they return an error, or if a test that runs at the same time has switched the feature: the process has one set of features.
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
	before, by := current.Enabled(feature), switched[feature]
	if by != "" && by != tb.Name() && !strings.HasPrefix(tb.Name(), by+"/") {
		tb.Fatalf("feature %s cannot be set: test %s has set it and runs at the same time", feature, by)
	}
	if err := set(feature, featureValue); err != nil {
		tb.Fatal(err)
	}
	switched[feature] = tb.Name()
	tb.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		switched[feature] = by
		if err := set(feature, before); err != nil {
			tb.Errorf("feature %s cannot be set back to %t: %v", feature, before, err)
		}
	})
}
