// Package features has the feature gates of this library. A program reads them with [FeatureGates].
// To change a feature, set the environment variable KUBE_FEATURE_ followed by the feature's name,
// or install your own gates.
//
// Names, versions and defaults of the features are client-go's, so that programs which use them
// keep working.
package features

import (
	"k8s.io/apimachinery/pkg/util/version"
)

// Feature is the name of a feature.
type Feature string

// The known features.
const (
	// AtomicFIFO passes a whole relist to an informer as one event. This library always does so,
	// even if the feature is off.
	AtomicFIFO Feature = "AtomicFIFO"

	// ClientsAllowCARotation reads a CA bundle file again when it changes.
	ClientsAllowCARotation Feature = "ClientsAllowCARotation"

	// ClientsAllowCBOR lets clients send and accept CBOR (KEP-4222).
	ClientsAllowCBOR Feature = "ClientsAllowCBOR"

	// ClientsAllowTLSCacheGC drops cached transports that are no longer in use.
	ClientsAllowTLSCacheGC Feature = "ClientsAllowTLSCacheGC"

	// ClientsPreferCBOR makes CBOR the default instead of JSON (KEP-4222).
	ClientsPreferCBOR Feature = "ClientsPreferCBOR"

	// InOrderInformers delivers the events of a watch in order. This library always does so, even
	// if the feature is off.
	InOrderInformers Feature = "InOrderInformers"

	// InOrderInformersBatchProcess lets an informer store several events at once. This library
	// always does so, even if the feature is off.
	InOrderInformersBatchProcess Feature = "InOrderInformersBatchProcess"

	// InformerResourceVersion makes an informer report its resource version. This library always
	// does so, even if the feature is off.
	InformerResourceVersion Feature = "InformerResourceVersion"

	// UnlockWhileProcessingFIFO lets events be queued while others are stored. This library always
	// does so, even if the feature is off.
	UnlockWhileProcessingFIFO Feature = "UnlockWhileProcessingFIFO"

	// WatchListClient makes informers request the first list as a stream (KEP-3157).
	WatchListClient Feature = "WatchListClient"
)

// prerelease is the maturity of a feature.
type prerelease string

// The stages of maturity.
const (
	Alpha      = prerelease("ALPHA")
	Beta       = prerelease("BETA")
	GA         = prerelease("")
	Deprecated = prerelease("DEPRECATED")
)

// FeatureSpec describes a feature from one version on.
type FeatureSpec struct {
	// Default reports whether the feature is on by default.
	Default bool
	// LockToDefault means that a program cannot change the feature.
	LockToDefault bool
	// PreRelease is the maturity of the feature.
	PreRelease prerelease
	// Version is the first version of Kubernetes that this spec applies to.
	Version *version.Version
}

// VersionedSpecs are the specs of a feature, the oldest first.
type VersionedSpecs []FeatureSpec

func since(v string, on bool, maturity prerelease, locked bool) FeatureSpec {
	return FeatureSpec{Version: version.MustParse(v), Default: on, PreRelease: maturity, LockToDefault: locked}
}

// known has the specs of all features.
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

// latest returns the spec of each feature in the newest version.
func latest() map[Feature]FeatureSpec {
	specs := make(map[Feature]FeatureSpec, len(known))
	for feature, versions := range known {
		specs[feature] = versions[len(versions)-1]
	}
	return specs
}
