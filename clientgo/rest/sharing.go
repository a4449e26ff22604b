package rest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/klog/v2"
)

// Sharing selects the parts that cached objects share to save memory. It applies to the caches of
// shared informers, whose objects must not be changed in place. client-go has no such type.
// README.md of this module describes the meaning and cost of each value.
type Sharing string

// The values of Sharing.
const (
	// ShareByDefault means the value of the environment variable KINFORM_SHARING. If it is unset,
	// ShareByDefault means ShareImmutable. With KUBE_CACHE_MUTATION_DETECTOR on, it means
	// ShareConstants, so that the detector reports only the object that was changed.
	ShareByDefault Sharing = ""
	// ShareNothing gives each object its own copy of every part.
	ShareNothing Sharing = "nothing"
	// ShareConstants shares only strings, which no program can change.
	ShareConstants Sharing = "constants"
	// ShareImmutable also shares the contents of managed fields and the immutable parts of pods.
	// With it, a check detects changes of the shared parts.
	ShareImmutable Sharing = "immutable"
	// ShareEverything shares all equal parts. It is for programs that never change a cached object.
	ShareEverything Sharing = "everything"
)

const (
	sharingVariable  = "KINFORM_SHARING"
	detectorVariable = "KUBE_CACHE_MUTATION_DETECTOR"
)

// validate returns an error for an unknown Sharing.
func (s Sharing) validate() error {
	known := []Sharing{ShareNothing, ShareConstants, ShareImmutable, ShareEverything}
	if s == ShareByDefault || slices.Contains(known, s) {
		return nil
	}
	return fmt.Errorf("there is no sharing %q: it is one of %v, or empty", string(s), known)
}

// environmentSharing returns the setting of the environment. It reads the environment once.
var environmentSharing = sync.OnceValue(func() Sharing { return sharingOf(os.Getenv) })

// sharingOf returns the setting of an environment. It logs an unknown value, and returns
// ShareConstants for it.
func sharingOf(getenv func(string) string) Sharing {
	if set := Sharing(strings.TrimSpace(getenv(sharingVariable))); set != ShareByDefault {
		if err := set.validate(); err != nil {
			klog.Background().Error(err, "The environment variable is not understood: cached objects share strings only", "variable", sharingVariable)
			return ShareConstants
		}
		return set
	}
	if detects, _ := strconv.ParseBool(getenv(detectorVariable)); detects {
		return ShareConstants
	}
	return ShareImmutable
}
