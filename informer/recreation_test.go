package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/predicate"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest"
)

// eventLines records the events of a handler.
type eventLines struct {
	mu    sync.Mutex // guards following
	lines []string
}

func (d *eventLines) write(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// read returns the lines since the last call.
func (d *eventLines) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// describeEvent formats an event as a line, such as "Updated watch a@1>a@2". A "?" marks an unknown
// final state.
func describeEvent(e informer.Event[*obj]) string {
	text := fmt.Sprintf("%v %v ", e.Type, e.Cause)
	if e.FinalStateUnknown {
		text = fmt.Sprintf("%v? %v ", e.Type, e.Cause)
	}
	if e.Type != informer.Added {
		text += e.Old.v
	}
	if e.Type != informer.Deleted {
		text += ">" + e.New.v
	} else if !e.FinalStateUnknown {
		text += " last " + e.New.v
	}
	return text
}

// of gives an event the UID of an object. A UID is a number here.
func of(uid uint64, e listwatch.Event[*obj]) listwatch.Event[*obj] {
	e.UIDHash = uid
	return e
}

// An object with the same key and another UID is another object, however it arrives. It is another
// object even if the first object's deletion was lost by the server or a proxy, or could not be
// decoded (G1).
func TestG1_ARecreatedObjectIsDeletedAndAdded(t *testing.T) {
	t.Parallel()
	added, modified, deleted := listwatch.Added, listwatch.Modified, listwatch.Deleted
	for name, tt := range map[string]struct {
		events []any
		list   []listwatch.Event[*obj] // a relist instead
		want   []string
	}{
		"seen": {
			events: []any{of(1, ev(deleted, "a", "2", "A2")), of(2, ev(added, "a", "3", "B3"))},
			want:   []string{"Deleted watch A1 last A2", "Added watch >B3"},
		},
		"modified": {
			events: []any{of(2, ev(modified, "a", "3", "B3")), of(2, ev(modified, "a", "4", "B4"))},
			want:   []string{"Deleted? watch A1", "Added watch >B3", "Updated watch B3>B4"},
		},
		"added": {
			events: []any{of(2, ev(added, "a", "3", "B3"))},
			want:   []string{"Deleted? watch A1", "Added watch >B3"},
		},
		"deleted, and never seen": {
			events: []any{of(2, ev(deleted, "a", "3", "B3"))},
			want:   []string{"Deleted? watch A1"},
		},
		"three lives": {
			events: []any{of(2, ev(modified, "a", "3", "B3")), of(3, ev(modified, "a", "4", "C4"))},
			want:   []string{"Deleted? watch A1", "Added watch >B3", "Deleted? watch B3", "Added watch >C4"},
		},
		"listed": {
			list: []listwatch.Event[*obj]{of(2, ev(added, "a", "3", "B3"))},
			want: []string{"Deleted? relist A1", "Added relist >B3"},
		},
		"listed with the same version": {
			list: []listwatch.Event[*obj]{of(2, ev(added, "a", "1", "B1"))},
			want: []string{"Deleted? relist A1", "Added relist >B1"},
		},
		"without UIDs nothing tells": {
			events: []any{ev(modified, "a", "3", "B3"), of(2, ev(modified, "a", "4", "B4"))},
			want:   []string{"Updated watch A1>B3", "Deleted? watch B3", "Added watch >B4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake("1", of(1, ev(added, "a", "1", "A1")).Item)
				inf := newInformer(t, f, informer.Options[*obj]{})
				var d eventLines
				_, err := inf.AddHandler(func(e informer.Event[*obj]) { d.write(describeEvent(e)) }, informer.HandlerOptions{})
				require.NoError(t, err)
				start(t, inf)
				synctest.Wait()
				require.Equal(t, []string{"Added initial >A1"}, d.read())
				if tt.list != nil {
					var items []listwatch.Item[*obj]
					for _, e := range tt.list {
						items = append(items, e.Item)
					}
					f.Set("5", items...)
					f.Events <- expired
					time.Sleep(time.Minute)
				} else {
					for _, e := range tt.events {
						f.Events <- e
						synctest.Wait()
					}
				}
				synctest.Wait()
				require.Equal(t, tt.want, d.read())
				entry, ok := inf.Store().Entry(types.NamespacedName{Name: "a"})
				require.Equal(t, strings.Contains(tt.want[len(tt.want)-1], ">"), ok)
				if ok {
					require.True(t, strings.HasSuffix(tt.want[len(tt.want)-1], entry.Object.v))
				}
			})
		})
	}
}

// Events of objects with different UIDs are not merged, neither in the queue nor in the mailbox of
// a handler that is behind.
func TestStatesOfTwoObjectsAreNotMerged(t *testing.T) {
	t.Parallel()
	for _, overflow := range []informer.Overflow{informer.Coalesce, informer.Unbounded} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("1", of(1, ev(listwatch.Added, "a", "1", "A1")).Item)
			inf := newInformer(t, f, informer.Options[*obj]{})
			var d eventLines
			_, err := inf.AddHandler(func(e informer.Event[*obj]) {
				d.write(describeEvent(e))
				time.Sleep(time.Hour)
			}, informer.HandlerOptions{Mailbox: 1, Overflow: overflow})
			require.NoError(t, err)
			start(t, inf)
			synctest.Wait()
			for n := range 12 { // three states of each of four objects
				uid := uint64(1 + n/3)
				event := of(uid, ev(listwatch.Modified, "a", fmt.Sprint(n+2), fmt.Sprintf("%c%d", "ABCD"[uid-1], n+2)))
				f.Set(event.ResourceVersion, event.Item)
				f.Events <- event
				synctest.Wait()
			}
			time.Sleep(24 * time.Hour)
			got := d.read()
			require.Equal(t, "Added initial >A1", got[0])
			require.True(t, strings.HasSuffix(got[len(got)-1], ">D13"), "%q", got)
			for _, line := range got {
				if from, to, ok := strings.Cut(line[strings.LastIndex(line, " ")+1:], ">"); ok && from != "" {
					require.Equal(t, from[:1], to[:1], "%q", line)
				}
			}
			if overflow == informer.Coalesce {
				require.Contains(t, got, "Deleted? watch A1")
				require.Less(t, len(got), 12)
			}
		})
	}
}

// A controller that compares only generations must act on a recreated object, although the old and
// the new object have generation 1.
func TestAPredicateOfGenerationsLetsARecreatedObjectPass(t *testing.T) {
	t.Parallel()
	type widget struct {
		Metadata struct{ Name string } `json:"metadata"`
	}
	run := func(t *testing.T, server *apitest.Server, d *eventLines) {
		synctest.Wait()
		require.Equal(t, []string{"Added initial"}, d.read())
		server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.Expired()})
		server.DropWatches("")
		require.NoError(t, server.Delete(pods, key(1)))
		_, err := server.Create(newPod(key(1)))
		require.NoError(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"Deleted relist", "Added relist"}, d.read())
	}
	for _, encoding := range []rest.Encoding{rest.Protobuf, rest.JSON} {
		t.Run(encoding.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, source := newServer(t, rest.ResourceOptions{Encoding: encoding})
				watchAgain(t, server, source, predicate.GenerationChanged[*corev1.Pod], run)
			})
		})
		t.Run(encoding.String()+", without a UID in the object", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, source := newServer(t, rest.ResourceOptions{Encoding: encoding})
				slim := sources.Transform(source, func(pod *corev1.Pod) (string, error) { return pod.Name, nil })
				watchAgain(t, server, slim, nil, run)
			})
		})
	}
	t.Run("metadata", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, _ := newServer(t, rest.ResourceOptions{})
			watchAgain(t, server, resourceOf[*metav1.PartialObjectMetadata](t, server), predicate.GenerationChanged[*metav1.PartialObjectMetadata], run)
		})
	})
	t.Run("a type of one's own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			server, _ := newServer(t, rest.ResourceOptions{})
			watchAgain(t, server, resourceOf[*widget](t, server), nil, run)
		})
	})
}

func resourceOf[T any](t *testing.T, server *apitest.Server) listwatch.Source[T] {
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return rest.Must(rest.NewJSONResource[T](client, pods, rest.ResourceOptions{}))
}

// watchAgain runs an informer on a server that has one pod.
func watchAgain[T any](t *testing.T, server *apitest.Server, source listwatch.Source[T], only func(informer.Event[T]) bool, run func(*testing.T, *apitest.Server, *eventLines)) {
	_, err := server.Create(newPod(key(1)))
	require.NoError(t, err)
	inf, err := informer.New(source, informer.Options[T]{})
	require.NoError(t, err)
	var d eventLines
	handle := func(e informer.Event[T]) { d.write(fmt.Sprintf("%v %v", e.Type, e.Cause)) }
	if only != nil {
		handle = predicate.When(only, handle)
	}
	_, err = inf.AddHandler(handle, informer.HandlerOptions{})
	require.NoError(t, err)
	stop := start(t, inf)
	run(t, server, &d)
	stop()
	require.Len(t, slices.Collect(inf.Store().Keys()), 1)
}

// An undecodable object with another UID also replaces the stored object, which is then deleted.
func TestAnUndecodableObjectReplacesAnotherUID(t *testing.T) {
	t.Parallel()
	for _, sameObject := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("1", of(1, ev(listwatch.Added, "a", "1", "A1")).Item, of(9, ev(listwatch.Added, "b", "1", "b")).Item)
			undecodable := &listwatch.ObjectError{Key: types.NamespacedName{Name: "a"}, ResourceVersion: "3", UIDHash: 2, Err: errors.New("broken")}
			if sameObject {
				undecodable.UIDHash = 1
			}
			source := brokenList{fake: f, undecodable: undecodable}
			inf := newInformer(t, &source, informer.Options[*obj]{})
			var d eventLines
			_, err := inf.AddHandler(func(e informer.Event[*obj]) { d.write(describeEvent(e)) }, informer.HandlerOptions{})
			require.NoError(t, err)
			start(t, inf)
			synctest.Wait()
			require.ElementsMatch(t, []string{"Added initial >A1", "Added initial >b"}, d.read())
			f.Set("5", of(9, ev(listwatch.Added, "b", "1", "b")).Item)
			source.broken = true
			f.Events <- expired
			time.Sleep(time.Minute)
			if sameObject {
				require.Empty(t, d.read())
			} else {
				require.Equal(t, []string{"Deleted? relist A1"}, d.read())
			}
		})
	}
}

// brokenList is a source whose lists have an undecodable object.
type brokenList struct {
	*fake
	undecodable error
	broken      bool
}

func (b *brokenList) List(ctx context.Context, opts listwatch.ListOptions) (listwatch.ListStream[*obj], error) {
	stream, err := b.fake.List(ctx, opts)
	if err != nil || !b.broken {
		return stream, err
	}
	return &brokenStream{stream, b.undecodable}, nil
}

type brokenStream struct {
	listwatch.ListStream[*obj]
	first error
}

func (s *brokenStream) Next() (item listwatch.Item[*obj], err error) {
	if err, s.first = s.first, nil; err != nil {
		return item, err
	}
	return s.ListStream.Next()
}
