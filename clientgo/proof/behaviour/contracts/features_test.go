package contracts

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
)

// programGates are the feature gates of a program, with the methods that SetFeatureDuringTest
// requires.
type programGates struct{ on map[features.Feature]bool }

func (g *programGates) Enabled(key features.Feature) bool { return g.on[key] }
func (g *programGates) Set(key features.Feature, on bool) error {
	g.on[key] = on
	return nil
}

// recordingT is a test that records its failure instead of failing.
type recordingT struct {
	*testing.T
	name   string
	failed string
}

func (f *recordingT) Name() string { return f.name }
func (f *recordingT) Fatal(args ...any) {
	f.failed = fmt.Sprint(args...)
	panic(f)
}
func (f *recordingT) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

func TestSetFeatureDuringTestWorksWithAProgramsGates(t *testing.T) {
	original := features.FeatureGates()
	defer features.ReplaceFeatureGates(original)
	own := &programGates{on: map[features.Feature]bool{}}
	features.ReplaceFeatureGates(own)
	t.Run("outer", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
		require.True(t, own.on[features.WatchListClient])
		t.Run("inner", func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
			require.False(t, own.on[features.WatchListClient])
		})
		require.True(t, own.on[features.WatchListClient])
	})
	require.False(t, own.on[features.WatchListClient])
}

func TestOnlyOneTestAtATimeMaySetAFeature(t *testing.T) {
	t.Run("one", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
		other := &recordingT{T: t, name: "TestOther"}
		require.Panics(t, func() { featurestesting.SetFeatureDuringTest(other, features.WatchListClient, false) })
		require.Contains(t, other.failed, t.Name())
		require.True(t, features.FeatureGates().Enabled(features.WatchListClient))
	})
	t.Run("next", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	})
}
