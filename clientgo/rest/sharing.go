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

// Sharing says what cached objects may have in common, which saves memory. It is about the caches of shared informers, whose objects
// nobody may change in place. client-go has no such type: README.md of this module says what each value means and costs.
type Sharing string

// The values of Sharing.
const (
	// ShareByDefault is what the environment variable KINFORM_SHARING says. Without that it is ShareConstants if
	// KUBE_CACHE_MUTATION_DETECTOR is on, so that the detector names the one object that was changed, and else ShareImmutable.
	ShareByDefault Sharing = ""
	// ShareNothing gives each object all of its parts.
	ShareNothing Sharing = "nothing"
	// ShareConstants has strings in common, which no program can change.
	ShareConstants Sharing = "constants"
	// ShareImmutable adds the contents of managed fields, and what is immutable in a pod, under guard.
	ShareImmutable Sharing = "immutable"
	// ShareEverything has all equal parts in common. It is for programs that never change a cached object.
	ShareEverything Sharing = "everything"
)

const (
	sharingVariable  = "KINFORM_SHARING"
	detectorVariable = "KUBE_CACHE_MUTATION_DETECTOR"
)

// validate returns an error for a Sharing that has no meaning.
func (s Sharing) validate() error {
	known := []Sharing{ShareNothing, ShareConstants, ShareImmutable, ShareEverything}
	if s == ShareByDefault || slices.Contains(known, s) {
		return nil
	}
	return fmt.Errorf("there is no sharing %q: it is one of %v, or empty", string(s), known)
}

// environmentSharing is what the environment says, read once.
var environmentSharing = sync.OnceValue(func() Sharing { return sharingOf(os.Getenv) })

// sharingOf reads the environment. A value without a meaning is said, and shares what a program without the variable shares least.
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
