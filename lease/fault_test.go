package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/lease"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// lost waits for the end of a leader's context, and returns its cause.
func lost(t *testing.T, ctx context.Context) *lease.LostError {
	t.Helper()
	receiveWithin(t, time.Minute, ctx.Done())
	lost, ok := errors.AsType[*lease.LostError](context.Cause(ctx))
	require.True(t, ok, "%v", context.Cause(ctx))
	require.Error(t, lease.Check(ctx))
	return lost
}

func TestRenewalCountsFromWhenItWasSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		r := start(t, newElector(t, server, "first", lease.Options{}))
		ctx := receiveWithin(t, time.Second, r.leads)
		time.Sleep(time.Minute + time.Second) // between two renewals
		sent := time.Now().Add(time.Second)
		server.Inject(apitest.Fault{Verb: "update", Times: 1, Action: apitest.Delay(3 * time.Second)})
		time.Sleep(3500 * time.Millisecond)
		require.NoError(t, ctx.Err())
		server.Inject(apitest.Fault{Action: apitest.Drop()})
		ended := lost(t, ctx)
		require.InDelta(t, 10, time.Since(sent).Seconds(), 0.01)
		require.InDelta(t, 10, ended.Unrenewed.Seconds(), 0.01)
		require.ErrorContains(t, ended, "default/greeter: first no longer leads: no renewal has succeeded for 10s")
		require.Equal(t, ended, <-r.result)
		require.NotNil(t, r.elector.Stats().Failing)
		require.False(t, r.elector.Leading())
	})
}

func TestRenewalThatHangsEndsTheTermInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		r := start(t, newElector(t, server, "first", lease.Options{}))
		ctx := receiveWithin(t, time.Second, r.leads)
		time.Sleep(time.Minute + time.Second)
		server.Inject(apitest.Fault{Action: apitest.Delay(time.Minute)})
		lost(t, ctx)
		require.InDelta(t, 10, time.Since(stored(t, server).Spec.RenewTime.Time).Seconds(), 0.01)
		require.Error(t, <-r.result)
		time.Sleep(2 * time.Minute) // until the server has executed the delayed requests
	})
}

// Two candidates have one identity by mistake, and write the Lease at the same microsecond. Only
// one of them leads, even if the responses to both writes are lost, so that neither candidate knows
// which write succeeded. The same holds if the Lease exists and is free.
func TestTwoCandidatesWithOneIdentityDoNotBothLead(t *testing.T) {
	t.Parallel()
	for name, exists := range map[string]bool{"no Lease": false, "a free Lease": true} {
		for how, lost := range map[string]bool{"answered": false, "answers are lost": true} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t)
					verb := "create"
					if exists {
						verb = "update"
						_, err := server.Create(&coordinationv1.Lease{ObjectMeta: meta()})
						require.NoError(t, err)
					}
					// Both have read the Lease before one of them writes. Time does not advance
					// until both have written.
					server.Inject(apitest.Fault{Verb: "get", Times: 2, Action: apitest.Delay(time.Second)})
					if lost {
						server.Inject(apitest.Fault{Verb: verb, Times: 2, Action: apitest.CutBody(3)})
					}
					twins := []*run{start(t, newElector(t, server, "twin", lease.Options{})), start(t, newElector(t, server, "twin", lease.Options{}))}
					time.Sleep(time.Hour)
					synctest.Wait()
					require.Equal(t, 1, len(twins[0].leads)+len(twins[1].leads), "one twin leads, and the other never does")
					for _, twin := range twins {
						require.Empty(t, twin.result)
						require.Zero(t, twin.elector.Stats().Lost)
					}
				})
			})
		}
	}
}

func TestLeaseEditedByOtherClients(t *testing.T) {
	t.Parallel()
	other, empty, again := "other", "", "first"
	for name, test := range map[string]struct {
		edit func(*coordinationv1.Lease)
		text string // text of the LostError; "" if the term goes on
	}{
		"an annotation":  {edit: func(l *coordinationv1.Lease) { l.Annotations = map[string]string{"a": "b"} }},
		"the duration":   {edit: func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = nil }},
		"another holder": {edit: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &other }, text: "other has taken the lease"},
		"no holder":      {edit: func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = &empty }, text: "another client has removed the holder from the Lease"},
		"nothing":        {edit: func(l *coordinationv1.Lease) { l.Spec = coordinationv1.LeaseSpec{} }, text: "another client has removed the holder from the Lease"},
		"the same, by twins": {edit: func(l *coordinationv1.Lease) {
			l.Spec.HolderIdentity = &again
			l.Spec.AcquireTime = &metav1.MicroTime{Time: time.Now()}
		}, text: "another candidate has the same identity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t)
				r := start(t, newElector(t, server, "first", lease.Options{Labels: map[string]string{"app": "greeter"}}))
				ctx := receiveWithin(t, time.Second, r.leads)
				time.Sleep(time.Minute + time.Second)
				strategy := coordinationv1.OldestEmulationVersion
				change(t, server, func(l *coordinationv1.Lease) {
					require.Equal(t, "greeter", l.Labels["app"])
					l.Spec.Strategy = &strategy
					test.edit(l)
				})
				time.Sleep(2 * time.Second)
				if test.text != "" {
					require.ErrorContains(t, lost(t, ctx), test.text)
					require.Error(t, <-r.result)
					return
				}
				require.NoError(t, ctx.Err())
				object := stored(t, server)
				require.Equal(t, "first", *object.Spec.HolderIdentity)
				require.EqualValues(t, 15, *object.Spec.LeaseDurationSeconds)
				require.Equal(t, &strategy, object.Spec.Strategy)
			})
		})
	}
}

func TestOnlyTheLeaderRecreatesADeletedLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := start(t, newElector(t, server, "first", lease.Options{}))
		ctx := receiveWithin(t, time.Second, first.leads)
		second := start(t, newElector(t, server, "second", lease.Options{RetryPeriod: 100 * time.Millisecond}))
		for range 20 {
			time.Sleep(3100 * time.Millisecond)
			require.NoError(t, server.Delete(leases, key))
		}
		require.NoError(t, ctx.Err())
		require.Empty(t, second.leads)
		time.Sleep(3 * time.Second)
		require.Equal(t, "first", *stored(t, server).Spec.HolderIdentity)
	})
}

func TestMalformedLeases(t *testing.T) {
	t.Parallel()
	holder, zero, negative, future := "somebody", int32(0), int32(-5), metav1.MicroTime{Time: time.Now().Add(1000 * time.Hour)}
	for name, test := range map[string]struct {
		spec  coordinationv1.LeaseSpec
		after time.Duration
	}{
		"empty":                  {coordinationv1.LeaseSpec{}, 0},
		"a holder alone":         {coordinationv1.LeaseSpec{HolderIdentity: &holder}, 15 * time.Second},
		"no duration":            {coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &zero}, 15 * time.Second},
		"a negative one":         {coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &negative}, 15 * time.Second},
		"negative transitions":   {coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseTransitions: &negative}, 15 * time.Second},
		"renewed in the future":  {coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &future, AcquireTime: &future}, 15 * time.Second},
		"released in the future": {coordinationv1.LeaseSpec{RenewTime: &future}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t)
				_, err := server.Create(&coordinationv1.Lease{ObjectMeta: meta(), Spec: test.spec})
				require.NoError(t, err)
				begun := time.Now()
				r := start(t, newElector(t, server, "first", lease.Options{}))
				term, _ := lease.FromContext(receiveWithin(t, time.Minute, r.leads))
				require.EqualValues(t, 1, term.Transitions)
				require.InDelta(t, test.after.Seconds(), time.Since(begun).Seconds(), 0.5)
			})
		})
	}
}

func TestCandidateLogsFailuresAndRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		fault := server.Inject(apitest.Fault{Action: apitest.Fail(apierrors.NewForbidden(leases.GroupResource(), key.Name, errors.New("no right")))})
		r := start(t, newElector(t, server, "first", lease.Options{}))
		time.Sleep(10 * time.Minute)
		stats := r.elector.Stats()
		require.True(t, apierrors.IsForbidden(stats.Failing), "%v", stats.Failing)
		require.InDelta(t, 600, time.Since(stats.FailingSince).Seconds(), 5)
		require.True(t, stats.Standing)
		require.NoError(t, r.elector.Healthy())
		fault.Remove()
		receiveWithin(t, 3*time.Second, r.leads)
		stats = r.elector.Stats()
		require.NoError(t, stats.Failing)
		require.True(t, stats.Leading)
		require.Equal(t, "first", stats.Leader)
		require.EqualValues(t, 1, stats.Terms)
		require.Greater(t, stats.Left, 9*time.Second)
	})
}

// The candidate is stopped before it gets the response to the write that takes the lease.
func TestCandidateThatIsStoppedLeavesNoLeaseBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		server.Inject(apitest.Fault{Verb: "create", Times: 1, Action: apitest.CutBody(10)})
		server.Inject(apitest.Fault{Verb: "create", Times: 1, Action: apitest.Delay(time.Second)})
		r := start(t, newElector(t, server, "first", lease.Options{}))
		time.Sleep(500 * time.Millisecond)
		r.stop()
		require.NoError(t, <-r.result)
		require.Empty(t, r.leads)
		require.Empty(t, *stored(t, server).Spec.HolderIdentity)
	})
}

func TestSuspendedMachineLosesTheLease(t *testing.T) {
	// Not parallel: it affects the whole process.
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		client := newClient(t, server, rest.Options{Limit: lease.Check})
		e := newElector(t, server, "first", lease.Options{})
		r := start(t, e)
		ctx := receiveWithin(t, time.Second, r.leads)
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		objects := rest.Must(rest.For[*coordinationv1.Lease](client, rest.ResourceOptions{}))
		_, err := objects.Get(derived, key, metav1.GetOptions{})
		require.NoError(t, err)

		wake := lease.Suspend(5 * time.Second)
		require.NoError(t, lease.Check(derived))
		wake()
		defer lease.Suspend(11 * time.Second)()
		// No timer has fired, but the client sends no request:
		sent := client.Stats().Requests
		_, err = objects.Get(derived, key, metav1.GetOptions{})
		require.Error(t, err)
		require.Equal(t, sent, client.Stats().Requests)
		require.ErrorContains(t, lease.Check(derived), "may have been stopped")
		require.False(t, e.Leading())
		require.ErrorIs(t, derived.Err(), context.Canceled, "Check ends the leader's context, and so the derived one")
		require.Error(t, <-r.result)
	})
}

func TestFunctionThatDoesNotEndIsUnhealthy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		e := newElector(t, server, "first", lease.Options{})
		over, result := make(chan struct{}), make(chan error, 1)
		go func() {
			result <- e.Run(t.Context(), func(context.Context) error { <-over; return nil })
		}()
		time.Sleep(time.Minute)
		fault := server.Inject(apitest.Fault{Action: apitest.Drop()})
		time.Sleep(12 * time.Second)
		require.False(t, e.Leading())
		require.NoError(t, e.Healthy())
		time.Sleep(6 * time.Second)
		require.ErrorContains(t, e.Healthy(), "the leader's function has not returned")
		fault.Remove()
		time.Sleep(time.Minute)
		require.Equal(t, "first", *stored(t, server).Spec.HolderIdentity)
		require.Greater(t, time.Since(stored(t, server).Spec.RenewTime.Time), time.Minute, "a lost lease is not renewed")
		close(over)
		require.Error(t, <-result)
		require.NoError(t, e.Healthy())
	})
}

func TestStandAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		r := start(t, newElector(t, server, "first", lease.Options{StandAgain: true}))
		first := receiveWithin(t, time.Second, r.leads)
		fault := server.Inject(apitest.Fault{Action: apitest.Drop()})
		lost(t, first)
		fault.Remove()
		second := receiveWithin(t, 3*time.Second, r.leads)
		before, _ := lease.FromContext(first)
		after, _ := lease.FromContext(second)
		require.Equal(t, before.Transitions+1, after.Transitions)
		require.Error(t, lease.Check(first))
		require.NoError(t, lease.Check(second))
		broken := errors.New("broken")
		r.end <- broken
		require.Equal(t, broken, <-r.result)
	})
}

// Everything under the lease ends with it: workers, and their requests.
func TestWorkersEndWithTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		e := newElector(t, server, "first", lease.Options{})
		queue := workqueue.New(workqueue.Options[int]{})
		for i := range 100 {
			queue.Add(i)
		}
		begun, result := 0, make(chan error, 1)
		go func() {
			result <- e.Run(t.Context(), func(ctx context.Context) error {
				return queue.Run(ctx, 1, func(ctx context.Context, _ int) error {
					require.NoError(t, lease.Check(ctx))
					begun++
					select {
					case <-ctx.Done():
						_, ok := errors.AsType[*lease.LostError](context.Cause(ctx))
						require.True(t, ok)
						return ctx.Err()
					case <-time.After(3 * time.Second):
						return nil
					}
				})
			})
		}()
		time.Sleep(time.Minute + time.Second)
		server.Inject(apitest.Fault{Action: apitest.Drop()})
		lost, ok := errors.AsType[*lease.LostError](<-result)
		require.True(t, ok)
		require.Equal(t, 24, begun, "the workers begin keys for 70 s, and then stop: %v", lost)
	})
}

// A process that is asked to stop finishes its queue under the lease. The Elector renews the lease
// meanwhile.
func TestQueueIsDrainedUnderTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		first := newElector(t, server, "first", lease.Options{})
		queue := workqueue.New(workqueue.Options[int]{DrainTimeout: -1})
		for i := range 10 {
			queue.Add(i)
		}
		stop, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			result <- first.RunUntil(t.Context(), stop, func(lead context.Context) error {
				return queue.RunUntil(lead, stop, 1, func(ctx context.Context, _ int) error {
					time.Sleep(10 * time.Second)
					return ctx.Err()
				})
			})
		}()
		time.Sleep(5 * time.Second)
		second := start(t, newElector(t, server, "second", lease.Options{}))
		cancel()
		time.Sleep(90 * time.Second)
		require.True(t, first.Leading())
		require.Empty(t, second.leads)
		require.NoError(t, <-result)
		receiveWithin(t, 3*time.Second, second.leads)
		require.Zero(t, queue.Stats().Failures)
	})
}

func TestPanicOfTheLeaderReleasesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		e := newElector(t, server, "first", lease.Options{})
		require.PanicsWithValue(t, "bug", func() {
			_ = e.Run(t.Context(), func(context.Context) error { panic("bug") })
		})
		require.Equal(t, "first", *stored(t, server).Spec.HolderIdentity)
		require.False(t, e.Leading())
	})
}

func TestNestedLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		outer := newElector(t, server, "outer", lease.Options{})
		shard, err := lease.New(newClient(t, server, rest.Options{}), leaseKey("shard-1"), lease.Options{})
		require.NoError(t, err)
		err = outer.Run(t.Context(), func(ctx context.Context) error {
			return shard.Run(ctx, func(ctx context.Context) error {
				term, _ := lease.FromContext(ctx)
				require.Equal(t, "shard-1", term.Lease.Name)
				change(t, server, func(l *coordinationv1.Lease) { l.Spec.HolderIdentity = nil })
				<-ctx.Done()
				require.ErrorContains(t, lease.Check(ctx), "outer no longer leads")
				return ctx.Err()
			})
		})
		require.ErrorContains(t, err, "outer no longer leads")
		require.False(t, shard.Leading())
	})
}

func TestNewAndRunRejectInvalidArguments(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	client := newClient(t, server, rest.Options{})
	for text, opts := range map[string]lease.Options{
		"LeaseDuration is 1.5s: a Lease has whole seconds":                               {LeaseDuration: 1500 * time.Millisecond},
		"LeaseDuration is -1s":                                                           {LeaseDuration: -time.Second},
		"RenewDeadline is 20s: it must be less than LeaseDuration":                       {RenewDeadline: 20 * time.Second},
		"RetryPeriod is 9s: 1.2 times this period must be less than RenewDeadline, 10s,": {RetryPeriod: 9 * time.Second},
		"is not UTF-8":        {Identity: "\xff"},
		`Labels: "a": "b c":`: {Labels: map[string]string{"a": "b c"}},
	} {
		_, err := lease.New(client, key, opts)
		require.ErrorContains(t, err, text)
	}
	_, err := lease.New(client, leaseKey(""), lease.Options{})
	require.ErrorContains(t, err, "the name of the Lease")
	_, err = lease.New(nil, key, lease.Options{})
	require.ErrorContains(t, err, "needs a Client")
	for seconds := range 100 {
		_, err := lease.New(client, key, lease.Options{LeaseDuration: time.Duration(seconds+1) * time.Second})
		require.NoError(t, err, "the defaults of the other options fit any LeaseDuration")
	}

	e, err := lease.New(client, key, lease.Options{})
	require.NoError(t, err)
	require.Error(t, e.Run(t.Context(), nil))
	require.NoError(t, e.Run(t.Context(), func(ctx context.Context) error {
		require.ErrorContains(t, e.Run(ctx, func(context.Context) error { return nil }), "second Elector")
		return nil
	}))
	require.NoError(t, lease.Check(t.Context()))
	_, ok := lease.FromContext(t.Context())
	require.False(t, ok)
}

// panickingError is an error whose Unwrap panics.
type panickingError struct{}

func (panickingError) Error() string { return "odd" }
func (panickingError) Unwrap() error { panic("a bug") }

// A leader's function may return an error that panics when it is examined, even after its context
// has ended, and hooks may panic. Run returns an error that reports the panic, and releases the
// lease.
func TestPanicsOfHooksAndErrorsDoNotEndTheElection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t)
		r := start(t, newElector(t, server, "first", lease.Options{Observer: &lease.Observer{
			OnLeader: func(string) { panic("a bug") }, OnLead: func(lease.Term) { panic("a bug") },
			OnEnd: func(lease.Term, error) { panic("a bug") }, OnAttempt: func(time.Duration, error) { panic("a bug") },
		}}))
		receiveWithin(t, time.Second, r.leads)
		time.Sleep(time.Minute)
		r.end <- panickingError{}
		err := <-r.result
		require.ErrorContains(t, err, "the method Unwrap of an error of type lease_test.panickingError panicked: a bug")
		require.Empty(t, *stored(t, server).Spec.HolderIdentity)
	})
}
