package contracts

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
)

// ownGates are the feature gates of a program, with the methods that SetFeatureDuringTest requires.
type ownGates struct{ on map[features.Feature]bool }

func (g *ownGates) Enabled(key features.Feature) bool { return g.on[key] }
func (g *ownGates) Set(key features.Feature, on bool) error {
	g.on[key] = on
	return nil
}

// fails is a test that records its failure instead of failing.
type fails struct {
	*testing.T
	name   string
	failed string
}

func (f *fails) Name() string { return f.name }
func (f *fails) Fatal(args ...any) {
	f.failed = fmt.Sprint(args...)
	panic(f)
}
func (f *fails) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

func TestGatesOfAProgramAreSetByTheirMethodSet(t *testing.T) {
	original := features.FeatureGates()
	defer features.ReplaceFeatureGates(original)
	own := &ownGates{on: map[features.Feature]bool{}}
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

func TestAFeatureIsSetByOneTestAtATime(t *testing.T) {
	t.Run("one", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true)
		other := &fails{T: t, name: "TestOther"}
		require.Panics(t, func() { featurestesting.SetFeatureDuringTest(other, features.WatchListClient, false) })
		require.Contains(t, other.failed, t.Name())
		require.True(t, features.FeatureGates().Enabled(features.WatchListClient))
	})
	t.Run("next", func(t *testing.T) {
		featurestesting.SetFeatureDuringTest(t, features.WatchListClient, false)
	})
}
