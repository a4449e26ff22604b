package leaderelection_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	le "k8s.io/client-go/tools/leaderelection"
	rl "k8s.io/client-go/tools/leaderelection/resourcelock"
)

func release(c *le.LeaderElectionConfig) { c.ReleaseOnCancel = true }

// calls returns the lines of a log that are calls of the lock, in order. It leaves out callbacks,
// which run concurrently.
func calls(log []string) (found []string) {
	for _, line := range log {
		for _, word := range []string{" gets", " creates ", " writes ", " became leader", " stopped leading", " has stopped"} {
			if strings.Contains(line, word) {
				found = append(found, line)
			}
		}
	}
	return found
}

func TestALeaderCreatesRenewsAndReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		c := run(t, s, "a", release)
		time.Sleep(5 * time.Second)
		require.True(t, c.IsLeader())
		c.end()
		log := s.taken()
		require.Equal(t, []string{ // as client-go does
			`0s a gets`,
			`0s a creates "a" for 15, change 0`,
			`0s a became leader`,
			`0s a writes "a" for 15, change 0`,
			`2s a writes "a" for 15, change 0`,
			`4s a writes "a" for 15, change 0`,
			`5s a gets`,
			`5s a writes "" for 1, change 0`,
			`5s a stopped leading`,
			`5s a has stopped`,
		}, calls(log))
		require.Contains(t, log, "0s a leads")
		require.Contains(t, log, `0s a sees leader "a"`)
		require.False(t, c.IsLeader())
		require.Empty(t, c.GetLeader())
	})
}

func TestALockIsReleasedDespiteALateRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		c := run(t, s, "a", release)
		time.Sleep(5 * time.Second)
		s.do(func() { s.late, s.log = true, nil })
		c.end()
		require.Equal(t, []string{ // as client-go does
			`5s a gets`,
			`5s a writes "" for 1, change 0`,
			`5s a gets`,
			`5s a writes "" for 1, change 0`,
			`5s a stopped leading`,
			`5s a has stopped`,
		}, calls(s.taken()))
		require.False(t, c.IsLeader())
	})
}

func TestWithoutReleaseTheNextCandidateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		a := run(t, s, "a", nil)
		synctest.Wait()
		a.end()
		b := run(t, s, "b", nil)
		time.Sleep(14 * time.Second)
		require.Equal(t, "a", b.GetLeader())
		time.Sleep(6 * time.Second)
		require.True(t, b.IsLeader())
		require.Equal(t, 1, s.record.LeaderTransitions)
		require.Equal(t, 15, s.record.LeaseDurationSeconds)
		b.end()
		require.Equal(t, "b", s.record.HolderIdentity)
	})
}

func TestAReleasedLockIsTakenAtTheNextTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		a := run(t, s, "a", release)
		synctest.Wait()
		b := run(t, s, "b", release)
		time.Sleep(10 * time.Second)
		require.Equal(t, "a", b.GetLeader())
		a.end()
		time.Sleep(time.Duration(2 * 2.2 * float64(time.Second)))
		require.True(t, b.IsLeader())
		require.Contains(t, strings.Join(s.taken(), "\n"), `b sees leader "b"`)
		b.end()
	})
}

func TestALeaderStepsDownAtItsRenewDeadline(t *testing.T) {
	for name, fault := range map[string]func(*server){
		"refused": func(s *server) { s.down = true },
		"hangs":   func(s *server) { s.hangs = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{begin: time.Now()}
				c := run(t, s, "a", release)
				time.Sleep(3 * time.Second)
				s.taken()
				s.do(func() { fault(s) })
				time.Sleep(9 * time.Second)
				synctest.Wait()
				require.NotContains(t, strings.Join(s.taken(), "\n"), "is to end")
				// RenewDeadline, and the same time again for the release
				time.Sleep(12 * time.Second)
				<-c.over
				log := strings.Join(s.taken(), "\n")
				require.Contains(t, log, "14s a is to end", "the context ends RenewDeadline after the renewal at 4 s")
				require.Contains(t, log, "a has stopped")
				require.NoError(t, c.Check(time.Hour))
				time.Sleep(time.Minute)
				require.Error(t, c.Check(0), "the last record that the candidate saw is its own")
				c.stop()
			})
		})
	}
}

// client-go releases the lock before it ends the context of the guarded work.
func TestTheLeadersContextEndsBeforeTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		led := make(chan context.Context, 1)
		c := run(t, s, "a", func(c *le.LeaderElectionConfig) {
			c.ReleaseOnCancel = true
			c.Callbacks.OnStartedLeading = func(ctx context.Context) { led <- ctx }
		})
		ctx := <-led
		s.do(func() { s.hangs = true })
		time.Sleep(13 * time.Second)
		synctest.Wait()
		require.Error(t, ctx.Err())
		select {
		case <-c.over:
			require.Fail(t, "Run must wait for the release, which hangs too")
		default:
		}
		<-c.over
		c.stop()
	})
}

func TestALockTakenByAnotherIsNotOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		c := run(t, s, "a", release)
		time.Sleep(time.Second)
		s.do(func() {
			s.version++
			s.record = &rl.LeaderElectionRecord{HolderIdentity: "thief", LeaseDurationSeconds: 15}
		})
		time.Sleep(20 * time.Second)
		<-c.over
		require.Equal(t, "thief", s.record.HolderIdentity)
		require.Equal(t, "thief", c.GetLeader())
		c.stop()
	})
}

// A candidate waits for the lease duration in the record, because the leader may have another
// configuration.
func TestACandidateWaitsForTheDurationInTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now(), record: &rl.LeaderElectionRecord{HolderIdentity: "x", LeaseDurationSeconds: 1, LeaderTransitions: 3}}
		c := run(t, s, "a", nil)
		time.Sleep(5 * time.Second)
		require.True(t, c.IsLeader())
		require.Equal(t, 4, s.record.LeaderTransitions)
		c.end()
	})
}

func TestCoordinatedElectionRenewsOnlyAnAssignedLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now()}
		c := run(t, s, "a", func(c *le.LeaderElectionConfig) { c.Coordinated, c.ReleaseOnCancel = true, true })
		time.Sleep(10 * time.Second)
		require.Nil(t, s.record, "the candidate does not take the lock by itself")
		s.do(func() {
			s.version++
			s.record = &rl.LeaderElectionRecord{HolderIdentity: "a", LeaseDurationSeconds: 15, Strategy: "OldestEmulationVersion", LeaderTransitions: 2}
		})
		time.Sleep(30 * time.Second)
		require.True(t, c.IsLeader())
		require.Equal(t, "OldestEmulationVersion", string(s.record.Strategy))
		require.Equal(t, 2, s.record.LeaderTransitions)
		s.do(func() { s.version++; s.record.PreferredHolder = "b" })
		time.Sleep(15 * time.Second)
		<-c.over
		require.Empty(t, s.record.HolderIdentity, "released")
		c.stop()
	})
}

func TestOnStoppedLeadingIsCalledWithoutLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{begin: time.Now(), down: true}
		c := run(t, s, "a", release)
		time.Sleep(time.Minute)
		c.end()
		log := s.taken()
		require.Contains(t, log, "1m0s a has stopped")
		require.NotContains(t, strings.Join(log, "\n"), "leading")
	})
}

func TestInvalidConfigsAreRefused(t *testing.T) {
	good := le.LeaderElectionConfig{
		Lock: &lock{name: "a"}, LeaseDuration: 15, RenewDeadline: 10, RetryPeriod: 2,
		Callbacks: le.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
	}
	_, err := le.NewLeaderElector(good)
	require.NoError(t, err)
	for want, change := range map[string]func(*le.LeaderElectionConfig){
		"leaseDuration must be greater than renewDeadline":            func(c *le.LeaderElectionConfig) { c.RenewDeadline = 15 },
		"renewDeadline must be greater than retryPeriod*JitterFactor": func(c *le.LeaderElectionConfig) { c.RetryPeriod = 9 },
		"retryPeriod must be greater than zero":                       func(c *le.LeaderElectionConfig) { c.RetryPeriod = 0 },
		"Lock must not be nil.":                                       func(c *le.LeaderElectionConfig) { c.Lock = nil },
		"Lock identity is empty":                                      func(c *le.LeaderElectionConfig) { c.Lock = &lock{} },
		"OnStartedLeading callback must not be nil":                   func(c *le.LeaderElectionConfig) { c.Callbacks.OnStartedLeading = nil },
		"OnStoppedLeading callback must not be nil":                   func(c *le.LeaderElectionConfig) { c.Callbacks.OnStoppedLeading = nil },
	} {
		config := good
		change(&config)
		_, err := le.NewLeaderElector(config)
		require.EqualError(t, err, want)
		require.Panics(t, func() { le.RunOrDie(t.Context(), config) })
	}
}

func TestHealthz(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		check := le.NewLeaderHealthzAdaptor(10 * time.Second)
		require.Equal(t, "leaderElection", check.Name())
		require.NoError(t, check.Check(nil))
		s := &server{begin: time.Now()}
		c := run(t, s, "a", nil)
		check.SetLeaderElection(c.LeaderElector)
		time.Sleep(time.Minute)
		require.NoError(t, check.Check(nil))
		c.end()
		time.Sleep(26 * time.Second)
		require.ErrorContains(t, check.Check(nil), "election")
	})
}

type metrics struct{ *server }

func (m metrics) NewLeaderMetric() le.LeaderMetric { return m }
func (m metrics) On(name string)                   { m.note("%s on", name) }
func (m metrics) Off(name string)                  { m.note("%s off", name) }
func (m metrics) SlowpathExercised(name string)    { m.note("%s slow", name) }

// No other test may set the provider of the process.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics{&server{begin: time.Now()}}
		le.SetProvider(m)
		le.SetProvider(metrics{})
		s := &server{begin: time.Now()}
		c := run(t, s, "a", nil)
		time.Sleep(time.Second)
		s.do(func() { s.version++ }) // the next renewal must read the lock
		time.Sleep(2 * time.Second)
		c.end()
		require.Equal(t, []string{"0s election off", "0s election on", "2s election slow", "3s election off"}, m.taken())

		// Each renewal of a coordinated election reads the lock.
		s = &server{begin: time.Now(), record: &rl.LeaderElectionRecord{HolderIdentity: "b", LeaseDurationSeconds: 15}}
		c = run(t, s, "b", func(c *le.LeaderElectionConfig) { c.Coordinated = true })
		time.Sleep(time.Second)
		c.end()
		require.Equal(t, []string{"3s election off", "3s election slow", "3s election on", "3s election slow", "4s election off"}, m.taken())
	})
}
