// Package features says what of this library is switched on. A program can ask by [FeatureGates], and change it by an
// environment variable KUBE_FEATURE_ with the name of the feature after it, or by gates of its own.
//
// The names, versions and defaults are client-go's, so that programs which know them go on working. What they decide is
// said with each.
package features

import (
	"k8s.io/apimachinery/pkg/util/version"
)

// Feature is the name of a feature.
type Feature string

// The features.
const (
	// AtomicFIFO is whether a relist is handed to an informer as one event. It is, whatever this says.
	AtomicFIFO Feature = "AtomicFIFO"

	// ClientsAllowCARotation is whether a file with a server's authorities is read again when it changes.
	ClientsAllowCARotation Feature = "ClientsAllowCARotation"

	// ClientsAllowCBOR is whether a client may ask for CBOR and send it (KEP-4222).
	ClientsAllowCBOR Feature = "ClientsAllowCBOR"

	// ClientsAllowTLSCacheGC is whether connections to servers are forgotten when nobody uses them.
	ClientsAllowTLSCacheGC Feature = "ClientsAllowTLSCacheGC"

	// ClientsPreferCBOR is whether CBOR takes the place of JSON where a configuration says nothing (KEP-4222).
	ClientsPreferCBOR Feature = "ClientsPreferCBOR"

	// InOrderInformers is whether events of a watch are delivered in their order. They are, whatever this says.
	InOrderInformers Feature = "InOrderInformers"

	// InOrderInformersBatchProcess is whether an informer stores several events at once. It does, whatever this says.
	InOrderInformersBatchProcess Feature = "InOrderInformersBatchProcess"

	// InformerResourceVersion is whether an informer tells the version that it has. It does, whatever this says.
	InformerResourceVersion Feature = "InformerResourceVersion"

	// UnlockWhileProcessingFIFO is whether events can be queued while others are stored. They can, whatever this says.
	UnlockWhileProcessingFIFO Feature = "UnlockWhileProcessingFIFO"

	// WatchListClient is whether informers ask for the first list as a stream (KEP-3157).
	WatchListClient Feature = "WatchListClient"
)

// prerelease says how mature a feature is.
type prerelease string

// How mature a feature is.
const (
	Alpha      = prerelease("ALPHA")
	Beta       = prerelease("BETA")
	GA         = prerelease("")
	Deprecated = prerelease("DEPRECATED")
)

// FeatureSpec is what a feature is in a version.
type FeatureSpec struct {
	// Default is whether it is switched on where nobody says anything.
	Default bool
	// LockToDefault is whether nobody can change that.
	LockToDefault bool
	// PreRelease is how mature it is.
	PreRelease prerelease
	// Version is the first version of Kubernetes that this is about.
	Version *version.Version
}

// VersionedSpecs are what a feature is in several versions, the oldest first.
type VersionedSpecs []FeatureSpec

func since(v string, on bool, maturity prerelease, locked bool) FeatureSpec {
	return FeatureSpec{Version: version.MustParse(v), Default: on, PreRelease: maturity, LockToDefault: locked}
}

// known has all features.
var known = map[Feature]VersionedSpecs{
	AtomicFIFO:                   {since("1.36", true, Beta, false)},
	ClientsAllowCARotation:       {since("1.36", true, Beta, false)},
	ClientsAllowCBOR:             {since("1.32", false, Alpha, false)},
	ClientsAllowTLSCacheGC:       {since("1.36", true, Beta, false)},
	ClientsPreferCBOR:            {since("1.32", false, Alpha, false)},
	InOrderInformers:             {since("1.33", true, Beta, false), since("1.36", true, GA, true)},
	InOrderInformersBatchProcess: {since("1.35", true, Beta, false)},
	InformerResourceVersion:      {since("1.30", false, Alpha, false), since("1.35", true, GA, false)},
	UnlockWhileProcessingFIFO:    {since("1.36", true, Beta, false)},
	WatchListClient:              {since("1.30", false, Beta, false), since("1.35", true, Beta, false)},
}

// latest returns what the features are in the newest version.
func latest() map[Feature]FeatureSpec {
	specs := make(map[Feature]FeatureSpec, len(known))
	for feature, versions := range known {
		specs[feature] = versions[len(versions)-1]
	}
	return specs
}
