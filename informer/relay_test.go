package informer_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// One informer after another takes over, running before or after, while things
// change and break: for the handler it is one history (G1, G2).
func TestARelayLosesNothingAndTellsNothingTwice(t *testing.T) {
	bubble(t, func(r *rig) {
		source := r.client()
		w := newWitness(r)
		relay := informer.NewRelay(w.handle)
		for round := range 8 {
			inf, err := informer.New(source, informer.Options[*corev1.Pod]{Reflector: reflector.Options{
				Backoff: reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second},
			}})
			require.NoError(r.t, err)
			r.informer, w.informer = inf, inf
			if round%2 == 0 {
				r.runSynced()
			}
			r.churn(20, 20, true)
			opts := informer.HandlerOptions{}
			if round%3 == 0 {
				opts.Mailbox = 2
			}
			registration, err := relay.MoveTo(r.t.Context(), inf, opts)
			require.NoError(r.t, err)
			if round%2 == 1 {
				r.run()
			}
			r.churn(20, 60, true)
			if round%4 != 3 { // else it moves on in the middle of whatever there is
				r.settle()
				require.NoError(r.t, registration.WaitForSync(r.t.Context()))
				synctest.Wait()
				require.Equal(r.t, r.versions(), w.versions(), "round %d", round)
			}
			require.NoError(r.t, r.stop())
			r.churn(20, 20, false)
		}
		require.Empty(r.t, w.objections("G1"))
		require.Positive(r.t, w.count(informer.Relist))
	})
}

func TestARelayTellsOnlyWhatIsNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := newFake("9", item("same", "1", "x"), item("changed", "2", "x"), item("gone", "3", "x"), item("unversioned", "", "x"))
		var got []string
		relay := informer.NewRelay(func(e informer.Event[*obj]) {
			got = append(got, e.Cause.String()+" "+names(e))
			if e.Key.Name == "gone" && e.Type == informer.Deleted {
				panic("contained like any other") // D10
			}
		})
		inf := mk(t, first, informer.Options[*obj]{})
		stop := start(t, inf)
		_, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, got, 4)
		stop()

		got = nil
		second := newFake("20", item("same", "1", "x"), item("changed", "12", "y"), item("new", "13", "y"), item("unversioned", "", "x"))
		inf = mk(t, second, informer.Options[*obj]{})
		registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		require.NoError(t, registration.WaitForSync(t.Context()))
		require.ElementsMatch(t, []string{
			"relist Updated changed@12", "initial Added new@13", "relist Updated unversioned@", "relist Deleted gone@3",
		}, got)
		require.Equal(t, "relist Deleted gone@3", got[3], "and then it counts as synced")
		require.EqualValues(t, 1, registration.Status().Panics)

		got = nil
		second.events <- ev(listwatch.Modified, "same", "21", "z")
		second.events <- ev(listwatch.Added, "gone", "22", "z")
		synctest.Wait()
		require.Equal(t, []string{"watch Updated same@21", "watch Added gone@22"}, got)
	})
}

func TestARelayWaitsForTheCallInProgress(t *testing.T) { // G4
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		relay := informer.NewRelay(func(e informer.Event[*obj]) { <-release })
		first, second := mk(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{}), mk(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{})
		start(t, first)
		start(t, second)
		_, err := relay.MoveTo(t.Context(), first, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = relay.MoveTo(ctx, second, informer.HandlerOptions{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		close(release)
		registration, err := relay.MoveTo(t.Context(), second, informer.HandlerOptions{})
		require.NoError(t, err)
		require.NoError(t, registration.WaitForSync(t.Context()))
	})
}

// A handler that is removed while it is told what is gone is told no more, and by the
// next informer the rest.
func TestARelayIsRemovedAmongDeletions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		var registration *informer.Registration[*obj]
		relay := informer.NewRelay(func(e informer.Event[*obj]) {
			got = append(got, e.Type.String())
			if e.Type == informer.Deleted {
				registration.Remove()
			}
		})
		full := mk(t, newFake("9", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x")), informer.Options[*obj]{})
		start(t, full)
		registration, err := relay.MoveTo(t.Context(), full, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		for round := range 3 {
			got = nil
			empty := mk(t, newFake("20"), informer.Options[*obj]{})
			registration, err = relay.MoveTo(t.Context(), empty, informer.HandlerOptions{})
			require.NoError(t, err)
			start(t, empty)
			<-registration.Done()
			require.Equal(t, []string{"Deleted"}, got, "round %d", round)
		}
		got = nil
		empty := mk(t, newFake("20"), informer.Options[*obj]{})
		registration, err = relay.MoveTo(t.Context(), empty, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, empty)
		require.NoError(t, registration.WaitForSync(t.Context()))
		require.Empty(t, got)
	})
}

func (r *rig) client() listwatch.Source[*corev1.Pod] {
	client, err := rest.NewClient(rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}, rest.Options{})
	require.NoError(r.t, err)
	r.t.Cleanup(client.Close)
	return rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{})
}
