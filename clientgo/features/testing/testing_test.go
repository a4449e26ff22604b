package testing_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
)

func TestFeatureIsSetUntilTheTestEnds(t *testing.T) {
	before := features.FeatureGates().Enabled(features.WatchListClient)
	t.Run("test", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, !before)
		require.Equal(t, !before, features.FeatureGates().Enabled(features.WatchListClient))
	})
	require.Equal(t, before, features.FeatureGates().Enabled(features.WatchListClient))
}
