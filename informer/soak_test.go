package informer_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

var (
	soak     = flag.Duration("soak", 3*time.Second, "how long to play random histories against the guarantees")
	soakSeed = flag.Uint64("soak.seed", 0, "play the history of this seed alone, and show it")
)

// TestHistoriesKeepTheGuarantees plays random histories for as long as -soak says, each on its own
// server in virtual time. A seed fixes the events on the server, but not the scheduling of
// goroutines. A failing seed may need several runs to fail again.
func TestHistoriesKeepTheGuarantees(t *testing.T) {
	if *soakSeed > 0 {
		trySeed(t, *soakSeed, true)
		return
	}
	if *soak > lapTime {
		soakInLaps(t)
		return
	}
	began := time.Now()
	var histories atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d histories in %v: %d events, %d states of stores, %d faults, %d reconciliations", histories.Load(), time.Since(began).Round(time.Second),
			soaked.events.Load(), soaked.states.Load(), soaked.faults.Load(), soaked.reconciled.Load())
	})
	for range runtime.GOMAXPROCS(0) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for time.Since(began) < testsize.Scale(*soak, min(*soak, time.Second)) && !t.Failed() {
				trySeed(t, rand.Uint64(), false)
				histories.Add(1)
			}
		})
	}
}

// lapTime is how long one process plays histories. The race detector keeps about 2 MB for each
// history for ever: 24 GB in ten minutes on a quick machine.
const lapTime = 2 * time.Minute

// soakInLaps plays histories in one process after another, until one fails.
func soakInLaps(t *testing.T) {
	for began := time.Now(); ; {
		rest := *soak - time.Since(began)
		if rest <= 0 {
			return
		}
		run := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.count=1", "-test.timeout=0",
			"-test.run=^"+t.Name()+"$", "-soak="+min(rest, lapTime).String())
		output, err := run.CombinedOutput()
		require.NoError(t, err, "%s", output)
		t.Logf("%s", output)
	}
}

func trySeed(t *testing.T, seed uint64, show bool) {
	synctest.Test(t, func(t *testing.T) {
		trace, violations := playHistory(t, seed)
		if show || len(violations) > 0 {
			t.Logf("history of -soak.seed %d:\n%s", seed, strings.Join(trace, "\n"))
		}
		for _, v := range violations[:min(len(violations), 10)] {
			t.Errorf("-soak.seed %d: %s", seed, v)
		}
	})
}
