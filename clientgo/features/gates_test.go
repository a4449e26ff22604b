package features

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheEnvironmentSetsFeaturesThatAreNotLocked(t *testing.T) {
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	t.Setenv("KUBE_FEATURE_ClientsAllowCBOR", "nonsense")
	t.Setenv("KUBE_FEATURE_InOrderInformers", "false")
	gates := newEnvironment(latest())
	require.False(t, gates.Enabled(WatchListClient))
	require.False(t, gates.Enabled(ClientsAllowCBOR))
	require.True(t, gates.Enabled(InOrderInformers))
	t.Setenv("KUBE_FEATURE_WatchListClient", "true")
	require.False(t, gates.Enabled(WatchListClient), "the environment is read once")
	require.NoError(t, gates.Set(WatchListClient, true))
	require.True(t, gates.Enabled(WatchListClient))
	require.ErrorContains(t, gates.Set(InOrderInformers, false), "locked")
	require.NoError(t, gates.SetForTesting(InOrderInformers, false))
	require.False(t, gates.Enabled(InOrderInformers))
	require.Error(t, gates.Set("nothing", true))
	require.Panics(t, func() { gates.Enabled("nothing") })
}

type registry map[Feature]FeatureSpec

func (r registry) Add(specs map[Feature]FeatureSpec) error {
	for feature, spec := range specs {
		r[feature] = spec
	}
	return nil
}

func (r registry) Enabled(key Feature) bool { return !r[key].Default }

func TestAProgramsOwnGates(t *testing.T) {
	before := FeatureGates()
	defer ReplaceFeatureGates(before)
	own := registry{}
	require.NoError(t, AddFeaturesToExistingFeatureGates(own))
	require.Len(t, own, len(known))
	ReplaceFeatureGates(own)
	require.True(t, FeatureGates().Enabled(ClientsPreferCBOR))
}
