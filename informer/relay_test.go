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

// Several informers take over one after another, started before or after the move, during changes
// and faults. The handler sees one history (G1, G2).
func TestARelayDeliversEverythingExactlyOnce(t *testing.T) {
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
			if round%4 != 3 { // otherwise the relay moves in the middle of the changes
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

func TestARelayDeliversOnlyNewStates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first := newFake("9", item("same", "1", "x"), item("changed", "2", "x"), item("gone", "3", "x"), item("unversioned", "", "x"))
		var got []string
		relay := informer.NewRelay(func(e informer.Event[*obj]) {
			got = append(got, e.Cause.String()+" "+names(e))
			if e.Key.Name == "gone" && e.Type == informer.Deleted {
				// The relay contains this panic like any other (D10).
				panic("contained like any other")
			}
		})
		inf := newInformer(t, first, informer.Options[*obj]{})
		stop := start(t, inf)
		_, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, got, 4)
		stop()

		got = nil
		second := newFake("20", item("same", "1", "x"), item("changed", "12", "y"), item("new", "13", "y"), item("unversioned", "", "x"))
		inf = newInformer(t, second, informer.Options[*obj]{})
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
		first, second := newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{}), newInformer(t, newFake("1", item("a", "1", "x")), informer.Options[*obj]{})
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

// A handler that is removed during the deletions of vanished objects receives no more of them. The
// next informer delivers the rest.
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
		full := newInformer(t, newFake("9", item("a", "1", "x"), item("b", "2", "x"), item("c", "3", "x")), informer.Options[*obj]{})
		start(t, full)
		registration, err := relay.MoveTo(t.Context(), full, informer.HandlerOptions{})
		require.NoError(t, err)
		synctest.Wait()
		for round := range 3 {
			got = nil
			empty := newInformer(t, newFake("20"), informer.Options[*obj]{})
			registration, err = relay.MoveTo(t.Context(), empty, informer.HandlerOptions{})
			require.NoError(t, err)
			start(t, empty)
			<-registration.Done()
			require.Equal(t, []string{"Deleted"}, got, "round %d", round)
		}
		got = nil
		empty := newInformer(t, newFake("20"), informer.Options[*obj]{})
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
	return rest.Must(rest.NewResource[*corev1.Pod](client, pods, rest.ResourceOptions{}))
}

// relayed returns a relay with a diary. Its handler has received these events from an informer that
// has ended.
func relayed(t *testing.T, received *eventLines, listed []listwatch.Item[*obj], events ...listwatch.Event[*obj]) *informer.Relay[*obj] {
	first := newFake("1", listed...)
	relay := informer.NewRelay(func(e informer.Event[*obj]) { received.write(describeEvent(e)) })
	inf := newInformer(t, first, informer.Options[*obj]{})
	stop := start(t, inf)
	_, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
	require.NoError(t, err)
	synctest.Wait()
	for _, e := range events {
		first.events <- e
		synctest.Wait()
	}
	stop()
	received.read()
	return relay
}

// The second informer's list is older than the events that the handler has received. So the handler
// receives nothing until the second informer has caught up.
func TestG1_ARelayDeliversNoOlderState(t *testing.T) {
	t.Parallel()
	added, modified, deleted := listwatch.Added, listwatch.Modified, listwatch.Deleted
	for _, running := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var d eventLines
			relay := relayed(t, &d, []listwatch.Item[*obj]{item("changed", "1", "x1"), item("deleted", "1", "y1"), item("gone", "1", "z1")},
				ev(modified, "changed", "20", "x20"), ev(added, "new", "21", "n21"), of(1, ev(added, "again", "22", "A22")), ev(deleted, "deleted", "30", "y1"))

			second := newFake("10", item("changed", "5", "x5"), item("deleted", "1", "y1"), item("gone", "1", "z1"), item("other", "7", "o7"))
			inf := newInformer(t, second, informer.Options[*obj]{})
			if running {
				start(t, inf)
				synctest.Wait()
			}
			registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
			require.NoError(t, err)
			if !running {
				start(t, inf)
			}
			synctest.Wait()
			require.Equal(t, []string{"Added initial >o7"}, d.read())
			require.False(t, isSynced(registration))

			deliver := func(e listwatch.Event[*obj], want ...string) {
				t.Helper()
				second.events <- e
				synctest.Wait()
				require.ElementsMatch(t, want, d.read())
			}
			deliver(ev(modified, "changed", "12", "x12"))
			deliver(of(9, ev(added, "again", "13", "older object")))
			deliver(ev(modified, "changed", "20", "x20"))
			deliver(ev(added, "new", "21", "n21"))
			deliver(ev(deleted, "again", "21", "older object"))
			deliver(of(1, ev(added, "again", "22", "A22")))
			deliver(ev(modified, "deleted", "23", "y23"))
			deliver(ev(deleted, "gone", "24", "z1"), "Deleted watch z1 last z1")
			deliver(of(2, ev(modified, "again", "25", "B25")), "Deleted? watch A22", "Added watch >B25")
			require.False(t, isSynced(registration))
			deliver(ev(deleted, "deleted", "30", "y1"))
			require.True(t, isSynced(registration))
			deliver(ev(added, "deleted", "31", "y31"), "Added watch >y31")
			deliver(ev(modified, "changed", "32", "x32"), "Updated watch x20>x32")
		})
	}
}

// The second informer may still receive an object that it does not have. The object is deleted when
// a bookmark shows that the informer cannot receive it any more.
func TestG2_ARelayDeletesObjectsThatCannotArriveAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d eventLines
		relay := relayed(t, &d, []listwatch.Item[*obj]{item("old", "1", "o1")},
			ev(listwatch.Added, "a", "20", "a20"), ev(listwatch.Added, "b", "22", "b22"), of(1, ev(listwatch.Added, "c", "23", "C23")))
		second := newFake("10", of(2, ev(listwatch.Added, "c", "4", "older object")).Item)
		inf := newInformer(t, second, informer.Options[*obj]{})
		registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		synctest.Wait()
		require.Equal(t, []string{"Deleted? relist o1"}, d.read())
		bookmark := func(version string) {
			second.events <- listwatch.Event[*obj]{Type: listwatch.Bookmark, Item: listwatch.Item[*obj]{ResourceVersion: version}}
			synctest.Wait()
		}
		bookmark("19")
		require.Empty(t, d.read())
		bookmark("21")
		require.Equal(t, []string{"Deleted? relist a20"}, d.read())
		second.events <- of(3, ev(listwatch.Modified, "c", "24", "D24"))
		synctest.Wait()
		require.ElementsMatch(t, []string{"Deleted? relist C23", "Added relist >D24", "Deleted? relist b22"}, d.read())
		require.True(t, isSynced(registration))
	})
}

// A restored server never catches up: after a while the relay accepts its state.
func TestARelayAcceptsAnInformerThatStaysBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d eventLines
		relay := relayed(t, &d, nil, of(1, ev(listwatch.Added, "a", "1000", "A1000")), of(2, ev(listwatch.Added, "b", "1001", "B1001")), of(3, ev(listwatch.Added, "c", "1002", "C1002")))
		second := newFake("10", of(1, ev(listwatch.Added, "a", "5", "A5")).Item, of(4, ev(listwatch.Added, "b", "6", "D6")).Item)
		inf := newInformer(t, second, informer.Options[*obj]{})
		registration, err := relay.MoveTo(t.Context(), inf, informer.HandlerOptions{})
		require.NoError(t, err)
		start(t, inf)
		synctest.Wait()
		require.Empty(t, d.read())
		// not when a silent watch is reopened, because the fake may lose an event then
		time.Sleep(5*time.Minute + time.Second)
		second.events <- of(1, ev(listwatch.Modified, "a", "11", "A11"))
		synctest.Wait()
		require.True(t, isSynced(registration))
		require.ElementsMatch(t, []string{"Updated relist A1000>A11", "Deleted? relist B1001", "Added relist >D6", "Deleted? relist C1002"}, d.read())
		second.events <- of(1, ev(listwatch.Modified, "a", "12", "A12"))
		synctest.Wait()
		require.Equal(t, []string{"Updated watch A11>A12"}, d.read())
	})
}

func isSynced(r *informer.Registration[*obj]) bool {
	select {
	case <-r.Synced():
		return true
	default:
		return false
	}
}
