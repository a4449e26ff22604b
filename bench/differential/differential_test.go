package differential

import (
	"flag"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

var (
	oneSeed   = flag.Uint64("seed", 0, "play the history of this seed alone, and show it")
	histories = flag.Int("histories", 500, "how many histories to play")
)

var errExpired = apierrors.NewResourceExpired("too old resource version")

func TestAllInformersNotifyTheSameInEveryHistory(t *testing.T) {
	if *oneSeed > 0 {
		try(t, *oneSeed, true)
		return
	}
	t.Cleanup(func() {
		t.Logf("%d histories, %d phases compared (%d without faults), %d faults, %d notifications",
			*histories, played.phases.Load(), played.calmPhases.Load(), played.faults.Load(), played.notifications.Load())
	})
	shards := runtime.GOMAXPROCS(0)
	for shard := range shards {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for seed := shard + 1; seed <= *histories && !t.Failed(); seed += shards {
				try(t, uint64(seed), false)
			}
		})
	}
}

// try runs the history of a seed.
func try(t *testing.T, seed uint64, show bool) {
	synctest.Test(t, func(t *testing.T) {
		trace, wrong := play(seed)
		if show || len(wrong) > 0 {
			t.Logf("history of seed %d:\n%s", seed, strings.Join(trace, "\n"))
		}
		for _, w := range wrong {
			t.Errorf("-seed %d: %s", seed, w)
		}
	})
}
