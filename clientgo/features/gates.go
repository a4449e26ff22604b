package features

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// Gates reports which features are on. It is safe for concurrent use.
type Gates interface {
	// Enabled reports whether a feature is on. It panics if the feature is unknown.
	Enabled(key Feature) bool
}

// Registry accepts features.
type Registry interface {
	// Add adds features.
	Add(map[Feature]FeatureSpec) error
}

// VersionedRegistry accepts features with a spec for each version.
type VersionedRegistry interface {
	// AddVersioned adds features.
	AddVersioned(in map[Feature]VersionedSpecs) error
}

// current points to the gates that FeatureGates returns.
var current atomic.Pointer[Gates]

func init() { ReplaceFeatureGates(newEnvironment(latest())) }

// FeatureGates returns the gates of this library. Unless a program has replaced them, they read the
// environment once, on first use.
func FeatureGates() Gates { return *current.Load() }

// ReplaceFeatureGates installs a program's own gates, which must know all features.
// [AddFeaturesToExistingFeatureGates] adds the features to them.
func ReplaceFeatureGates(newFeatureGates Gates) { current.Store(&newFeatureGates) }

// AddFeaturesToExistingFeatureGates adds all features to a program's own gates.
func AddFeaturesToExistingFeatureGates(registry Registry) error { return registry.Add(latest()) }

// AddVersionedFeaturesToExistingFeatureGates adds all features to a program's own gates, in all
// versions.
func AddVersionedFeaturesToExistingFeatureGates(registry VersionedRegistry) error {
	return registry.AddVersioned(maps.Clone(known))
}

// environment is the default implementation of Gates.
type environment struct {
	specs map[Feature]FeatureSpec
	read  func() map[Feature]bool // reads the environment

	mu  sync.Mutex // guards following
	set map[Feature]bool
}

func newEnvironment(specs map[Feature]FeatureSpec) *environment {
	return &environment{specs: specs, set: map[Feature]bool{}, read: sync.OnceValue(func() map[Feature]bool { return readEnvironment(specs) })}
}

// readEnvironment returns the features that the environment sets. It ignores unparsable values, and
// changes of locked features.
func readEnvironment(specs map[Feature]FeatureSpec) map[Feature]bool {
	said := map[Feature]bool{}
	for feature, spec := range specs {
		on, err := strconv.ParseBool(os.Getenv("KUBE_FEATURE_" + string(feature)))
		if err == nil && !(spec.LockToDefault && on != spec.Default) {
			said[feature] = on
		}
	}
	return said
}

// Enabled implements Gates.
func (e *environment) Enabled(key Feature) bool {
	spec, ok := e.specs[key]
	if !ok {
		panic(fmt.Errorf("feature %q is not registered in FeatureGates", key))
	}
	e.mu.Lock()
	on, set := e.set[key]
	e.mu.Unlock()
	if set {
		return on
	}
	if on, said := e.read()[key]; said {
		return on
	}
	return spec.Default
}

// Set turns a feature on or off. It overrides the environment.
func (e *environment) Set(key Feature, on bool) error {
	spec, ok := e.specs[key]
	switch {
	case !ok:
		return fmt.Errorf("feature %q is not registered in FeatureGates", key)
	case spec.LockToDefault && on != spec.Default:
		return fmt.Errorf("cannot set feature gate %q to %v, feature is locked to %v", key, on, spec.Default)
	}
	return e.SetForTesting(key, on)
}

// SetForTesting is Set, but also changes locked features.
func (e *environment) SetForTesting(key Feature, on bool) error {
	if _, ok := e.specs[key]; !ok {
		return errors.New("feature " + string(key) + " is not registered in FeatureGates")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set[key] = on
	return nil
}
