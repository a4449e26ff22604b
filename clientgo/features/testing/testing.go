// Package testing switches features in tests.
package testing

import (
	"testing"

	"k8s.io/client-go/features"
)

// SetFeatureDuringTest switches a feature on or off until the test ends, also one that is locked. The process has one set of features: tests that run in parallel
// must not switch the same one. It fails the test if the gates are a program's own that cannot be set.
func SetFeatureDuringTest(tb testing.TB, feature features.Feature, featureValue bool) {
	tb.Helper()
	gates, ok := features.FeatureGates().(interface {
		SetForTesting(key features.Feature, on bool) error
	})
	if !ok {
		tb.Fatalf("features of type %T cannot be set", features.FeatureGates())
	}
	before := features.FeatureGates().Enabled(feature)
	if err := gates.SetForTesting(feature, featureValue); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := gates.SetForTesting(feature, before); err != nil {
			tb.Error(err)
		}
	})
}
