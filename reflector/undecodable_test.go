package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/listwatch"
)

var errNameless = &listwatch.ObjectError{Err: errors.New("no name")}

func undecodableAt(kind listwatch.EventType, name string) *listwatch.ObjectError {
	bad, _ := errors.AsType[*listwatch.ObjectError](undecodable(kind, name))
	return bad
}

// undecodableNames returns the reflector's reports about undecodable objects.
func undecodableNames(g *rig) []string {
	state := g.reflector.Status().Undecodable
	names := []string{}
	for _, object := range state.Objects {
		names = append(names, object.Key.Name)
	}
	for range state.Nameless {
		names = append(names, "?")
	}
	return names
}

// start runs a reflector, and returns a function that ends it.
func start(t *testing.T, g *rig) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- g.reflector.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// TestFirstSnapshotIsCompleteOrAFailure: a first snapshot with an undecodable object is a failure
// that names the object. The reflector lists again until the object is decodable.
func TestFirstSnapshotIsCompleteOrAFailure(t *testing.T) { // G2, G11
	for _, mode := range []ListMode{List, WatchList} {
		for name, bad := range map[string]*listwatch.ObjectError{"a": undecodableAt(listwatch.Added, "a"), "?": errNameless} {
			t.Run(fmt.Sprint(mode, name), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g := newRig(Options{ListMode: mode})
					g.source.lists = []reply{play(bad, item("b@2")), play(item("b@2"), bad), whole("12", "a@11", "b@2")}
					g.source.watches = []reply{play()}
					if mode == WatchList {
						g.source.watches = []reply{
							play(bad, added("b@2"), endMarker("10")), play(added("b@2"), bad, endMarker("10")),
							play(bad, added("b@2"), modified("a@11"), endMarker("12")), play(),
						}
						if name == "?" {
							g.source.watches[2] = play(added("b@2"), added("a@11"), endMarker("12"))
						}
					}
					stop := start(t, g)
					synctest.Wait()
					require.Empty(t, g.sink.now())
					status := g.reflector.Status()
					require.False(t, status.Synced)
					require.Equal(t, 1, status.Failures)
					require.Equal(t, []string{name}, undecodableNames(g))
					require.ErrorIs(t, status.LastError, ErrUndecodable)
					if name == "a" {
						require.ErrorContains(t, status.LastError, "object ns/a could not be read: garbage")
						require.ErrorIs(t, status.LastError, bad.Err)
					}
					time.Sleep(time.Second)
					synctest.Wait()
					require.Equal(t, 2, g.reflector.Status().Failures, "the reflector must list again after a wait")

					time.Sleep(time.Minute)
					synctest.Wait()
					require.Equal(t, map[string]string{"a": "11", "b": "2"}, byName(g))
					require.Empty(t, undecodableNames(g))
					require.True(t, g.reflector.Status().Synced)
					stop()
				})
			})
		}
	}
}

func byName(g *rig) map[string]string {
	content := map[string]string{}
	for key, version := range g.sink.now() {
		content[key.Name] = version
	}
	return content
}

// TestSkipUndecodableStillReportsTheObjects: even with SkipUndecodable, reports name the missing
// objects.
func TestSkipUndecodableStillReportsTheObjects(t *testing.T) { // G11
	for _, mode := range []ListMode{List, WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: mode, SkipUndecodable: true})
				g.source.lists = []reply{play(undecodable(0, "a"), item("b@2"))}
				g.source.watches = []reply{play()}
				if mode == WatchList {
					g.source.watches = []reply{play(undecodable(listwatch.Added, "a"), added("b@2"), endMarker("10"))}
				}
				stop := start(t, g)
				synctest.Wait()
				require.Equal(t, map[string]string{"b": "2"}, byName(g))
				require.True(t, g.reflector.Status().Synced)
				require.Equal(t, []string{"a"}, undecodableNames(g))
				stop()
			})
		})
	}
}

// TestAnObjectIsUndecodableUntilItIsDecodedOrDeleted checks the set of undecodable objects after
// each event.
func TestAnObjectIsUndecodableUntilItIsDecodedOrDeleted(t *testing.T) { // G2, G11
	bubble(t, func(t *testing.T) {
		later := func(events ...any) (spread []any) {
			for _, event := range events {
				spread = append(spread, time.Second, event)
			}
			return spread
		}
		bad := func(kind listwatch.EventType, name, version string) *listwatch.ObjectError {
			bad := undecodableAt(kind, name)
			bad.ResourceVersion = version
			return bad
		}
		g := newRig(Options{})
		g.source.lists = []reply{whole("10", "a@1", "b@2")}
		g.source.watches = []reply{play(later(
			bad(listwatch.Modified, "a", "11"), bad(listwatch.Added, "c", "12"), bad(listwatch.Modified, "a", "13"),
			modified("b@14"), deleted("a@15"), modified("c@16"), bad(listwatch.Modified, "b", "17"), bad(listwatch.Deleted, "b", "18"),
		)...)}
		stop := start(t, g)
		for _, want := range [][]string{
			{}, {"a"}, {"a", "c"}, {"a", "c"}, {"a", "c"}, {"c"}, {}, {"b"}, {},
		} {
			synctest.Wait()
			require.Equal(t, want, undecodableNames(g), time.Since(g.began))
			time.Sleep(time.Second)
		}
		stop()
	})
}

// TestASnapshotReplacesTheUndecodableSet: a snapshot replaces the set of undecodable objects. If an
// object of the snapshot has no readable name, another snapshot follows when the watch has ended.
func TestASnapshotReplacesTheUndecodableSet(t *testing.T) { // G2, G11
	bubble(t, func(t *testing.T) {
		g := newRig(Options{})
		g.source.lists = []reply{
			whole("10", "a@1", "b@2", "c@3"),
			{play: []any{undecodable(0, "a"), errNameless, errNameless}, meta: listwatch.ListMeta{ResourceVersion: "20"}},
			whole("30", "b@2"),
		}
		g.source.watches = []reply{play(time.Minute, errExpired), play(time.Minute, io.EOF), play()}
		stop := start(t, g)
		synctest.Wait()
		require.Empty(t, undecodableNames(g))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"a", "?", "?"}, undecodableNames(g))
		require.Equal(t, 3, g.reflector.Status().Undecodable.Count)
		require.Equal(t, map[string]string{"a": "1", "b": "2", "c": "3"}, byName(g), "the nameless object may be any of these, so all must stay")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, undecodableNames(g))
		require.Equal(t, map[string]string{"b": "2"}, byName(g))
		stop()
	})
}

func TestUndecodableSetIsBounded(t *testing.T) { // G11
	t.Parallel()
	var u undecodableSet
	for n := range 1000 {
		u.add(undecodableAt(0, fmt.Sprint(n)))
	}
	u.add(errNameless)
	state := u.state()
	require.Equal(t, 1001, state.Count)
	require.Len(t, state.Objects, 100)
	text := state.Err().Error()
	require.Contains(t, text, "objects cannot be read: 1001")
	require.Contains(t, text, "and 997 more; 1 of them have no readable name")
	require.Less(t, len(text), 500)
	for n := range 1000 {
		require.True(t, u.remove(key(fmt.Sprint(n))))
		require.False(t, u.remove(key(fmt.Sprint(n))))
		require.Len(t, u.state().Objects, min(100, 999-n))
	}
	require.False(t, u.empty())
	require.NoError(t, Undecodable{}.Err())
}

func TestUndecodableObjectsWithoutANameAreNotItems(t *testing.T) {
	for _, mode := range []ListMode{List, WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: mode, SkipUndecodable: true})
				g.source.lists = []reply{{play: []any{item("a@1"), errNameless, errNameless}, meta: listwatch.ListMeta{ResourceVersion: "10"}}}
				g.source.watches = []reply{play()}
				if mode == WatchList {
					g.source.watches = []reply{play(added("a@1"), errNameless, errNameless, endMarker("10"))}
				}
				defer start(t, g)()
				synctest.Wait()
				st := g.reflector.Status()
				require.Equal(t, 1, st.Items)
				require.EqualValues(t, 1, st.Total)
				require.Equal(t, 2, st.Undecodable.Nameless)
			})
		})
	}
}

// If an object without a readable name changes several times, it counts as one object.
func TestChangesOfANamelessObjectCountOnce(t *testing.T) {
	nameless := func(kind listwatch.EventType) error {
		return &listwatch.ObjectError{Type: kind, Err: errors.New("no name")}
	}
	for _, mode := range []ListMode{List, WatchList} {
		t.Run(mode.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(Options{ListMode: mode, SkipUndecodable: true})
				changes := []any{nameless(listwatch.Modified), nameless(listwatch.Modified), nameless(listwatch.Modified)}
				g.source.lists = []reply{whole("10", "a@1")}
				g.source.watches = []reply{play(changes...)}
				if mode == WatchList {
					g.source.watches = []reply{play(append(append([]any{added("a@1")}, changes...), endMarker("10"))...)}
				}
				defer start(t, g)()
				synctest.Wait()
				require.Equal(t, []string{"?"}, undecodableNames(g))
			})
		})
	}
}
