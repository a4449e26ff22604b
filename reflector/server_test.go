package reflector_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// content is a set of objects with their versions.
type content map[types.NamespacedName]string

// history has the server's content at each version at which it changed.
type history struct {
	mu       sync.Mutex // guards following; held during writes to the server
	versions map[int]content
}

// at returns the content at a version.
func (h *history) at(version int) content {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ; version > 0; version-- {
		if c, ok := h.versions[version]; ok {
			return c
		}
	}
	return content{}
}

// checkingSink is a sink that checks after every call that it has exactly the server's content at
// this version.
type checkingSink struct {
	t       *testing.T
	history *history
	latest  int

	mu      sync.Mutex // guards following
	content content
}

func (s *checkingSink) HasVersion(key types.NamespacedName, version string, _ uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content[key] == version
}

func (*checkingSink) HeldObject(types.NamespacedName) any { return nil }

func (s *checkingSink) Replace(snapshot listwatch.Snapshot[*corev1.ConfigMap]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = content{}
	for _, it := range snapshot.Items {
		require.True(s.t, it.State == listwatch.Unchanged || it.Object.Name == it.Key.Name)
		s.content[it.Key] = it.ResourceVersion
	}
	s.checkLocked("replace", snapshot.ResourceVersion)
	return nil
}

func (s *checkingSink) Apply(ev listwatch.Event[*corev1.ConfigMap]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev.Type {
	case listwatch.Added, listwatch.Modified:
		require.Equal(s.t, ev.Key.Name, ev.Object.Name)
		s.content[ev.Key] = ev.ResourceVersion
	case listwatch.Deleted:
		delete(s.content, ev.Key)
	}
	s.checkLocked(ev.Type.String(), ev.ResourceVersion)
	return nil
}

func (s *checkingSink) checkLocked(call, version string) {
	v, err := strconv.Atoi(version)
	require.NoError(s.t, err)
	require.GreaterOrEqual(s.t, v, s.latest, "%s must not have a lower version than an earlier call", call)
	require.Equal(s.t, s.history.at(v), s.content, "%s at version %s", call, version)
	s.latest = v
}

// These are the faults of a list and of a watch.
var (
	listFaults = []apitest.Action{
		apitest.Drop(), apitest.Expired(), apitest.TooManyRequests(2 * time.Second), apitest.Garbage(), apitest.HTML(),
		apitest.Empty(), apitest.CutBody(200), apitest.SlowBody(1000), apitest.Delay(5 * time.Second),
		apitest.Code(503, 0), apitest.Fail(apierrors.NewInternalError(context.DeadlineExceeded)),
	}
	watchFaults = append([]apitest.Action{
		apitest.DropAfterEvents(1), apitest.CutFrame(1), apitest.EndAfterEvents(0), apitest.EndAfterEvents(2),
		apitest.FailAfterEvents(1, apierrors.NewResourceExpired("too old")), apitest.SilentAfterEvents(1),
		apitest.FailAfterEvents(0, apierrors.NewTooManyRequests("busy", 1)), apitest.DelayBookmarks(time.Minute),
		apitest.DuplicateEvents(),
	}, listFaults...)
)

// G2, G10: whatever fails, the sink always has the server's content at some version. In the end it
// has the server's present content.
func TestSinkEndsWithTheServersState(t *testing.T) {
	for _, mode := range []reflector.ListMode{reflector.List, reflector.WatchList} {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%v %d", mode, seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { walk(t, mode, seed) })
			})
		}
	}
}

func walk(t *testing.T, mode reflector.ListMode, seed uint64) {
	server := apitest.New(apitest.Options{Seed: seed, Window: 60, PagedCacheLists: seed%2 == 0})
	defer server.Close()
	require.NoError(t, server.ListenMemory())
	client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	defer client.Close()

	sink := &checkingSink{t: t, history: &history{versions: map[int]content{}}, content: content{}}
	r, err := reflector.New(
		rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{})), sink,
		reflector.Options{
			ListMode:     mode,
			PageSize:     7,
			WatchTimeout: time.Minute,
			// longer than any fault that is silent, so that the mode does not change
			ListProgressTimeout: 10 * time.Minute,
		})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()

	random := rand.New(rand.NewPCG(seed, 0))
	current := content{}
	for range 400 {
		switch random.IntN(12) {
		case 0:
			server.Inject(apitest.Fault{Verb: "list", Times: 1 + random.IntN(2), Action: listFaults[random.IntN(len(listFaults))]})
		case 1:
			server.Inject(apitest.Fault{Verb: "watch", Times: 1 + random.IntN(4), Action: watchFaults[random.IntN(len(watchFaults))]})
		case 2:
			server.DropWatches("")
		case 3:
			server.EndWatches("")
		case 4:
			server.Compact()
		case 5:
			time.Sleep(time.Duration(random.Int64N(int64(5 * time.Minute))))
		default:
			sink.history.mu.Lock()
			write(t, server, random, current)
			sink.history.versions[version(t, server)] = maps.Clone(current)
			sink.history.mu.Unlock()
		}
		if random.IntN(3) == 0 {
			time.Sleep(time.Duration(random.Int64N(int64(5 * time.Second))))
		}
	}

	time.Sleep(30 * time.Minute) // in which the remaining faults happen
	synctest.Wait()
	require.Equal(t, current, sink.content)
	require.Zero(t, r.Status().Failures, "%v", r.Status().LastError)
	require.Positive(t, r.Status().Relists)
	require.Equal(t, mode, r.Status().ListMode)
	require.Positive(t, r.Status().Errors)
	cancel()
	require.NoError(t, <-done)
}

// D6, RC-18: if a server does not support streaming lists, or does not finish them, the reflector
// lists.
func TestListReplacesAStreamingListThatDoesNotWork(t *testing.T) {
	for name, c := range map[string]struct {
		server apitest.Options
		faults []apitest.Action
		after  time.Duration
	}{
		"refused":       {apitest.Options{NoWatchList: true}, nil, 0},
		"no end marker": {apitest.Options{BookmarkInterval: time.Hour}, []apitest.Action{apitest.NoEndMarker()}, 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := apitest.New(c.server)
				defer server.Close()
				require.NoError(t, server.ListenMemory())
				for _, fault := range c.faults {
					server.Inject(apitest.Fault{Verb: "watch", Action: fault})
				}
				current := content{}
				write(t, server, rand.New(rand.NewPCG(0, 0)), current)
				client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
				require.NoError(t, err)
				defer client.Close()
				source := rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{}))
				sink := &checkingSink{t: t, history: &history{versions: map[int]content{version(t, server): current}}}

				ctx, cancel := context.WithTimeout(t.Context(), c.after+time.Second)
				defer cancel()
				r, err := reflector.New(source, sink, reflector.Options{ListMode: reflector.WatchList})
				require.NoError(t, err)
				require.NoError(t, r.Run(ctx))
				require.Equal(t, current, sink.content)
				require.Equal(t, reflector.List, r.Status().ListMode)
				require.EqualValues(t, 1, r.Status().StreamingLists)
			})
		})
	}
}

// write makes one random change, and records it in current.
func write(t *testing.T, server *apitest.Server, random *rand.Rand, current content) {
	key := types.NamespacedName{Namespace: "default", Name: fmt.Sprint("cm-", random.IntN(30))}
	_, exists := current[key]
	if exists && random.IntN(3) == 0 {
		require.NoError(t, server.Delete(configMaps, key))
		delete(current, key)
		return
	}
	obj := apitest.Object(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Data:       map[string]string{"n": fmt.Sprint(random.Uint64())},
	})
	var err error
	if exists {
		obj, err = server.Update(obj)
	} else {
		obj, err = server.Create(obj)
	}
	require.NoError(t, err)
	current[key] = obj.GetResourceVersion()
}

func version(t *testing.T, server *apitest.Server) int {
	v, err := strconv.Atoi(server.ResourceVersion())
	require.NoError(t, err)
	return v
}

// If nothing comes on a watch, not even a bookmark, the reflector opens the next watch from the
// last version. The reported error has this version.
func TestSilentWatchOfAServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := apitest.New(apitest.Options{})
		defer server.Close()
		require.NoError(t, server.ListenMemory())
		client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
		require.NoError(t, err)
		defer client.Close()

		var mu sync.Mutex
		var errs []reflector.Error // guarded by mu
		sink := &checkingSink{t: t, history: &history{versions: map[int]content{}}, content: content{}}
		r, err := reflector.New(rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{})), sink,
			reflector.Options{OnError: func(e reflector.Error) {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, e)
			}})
		require.NoError(t, err)
		after := func(d time.Duration) (reported []reflector.Error, stored int) {
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			sink.mu.Lock()
			defer sink.mu.Unlock()
			return slices.Clone(errs), len(sink.content)
		}
		silent := server.Inject(apitest.Fault{Verb: "watch", Times: 1, Action: apitest.SilentWatch()})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { require.NoError(t, r.Run(ctx)) })
		time.Sleep(time.Second)
		require.Equal(t, 1, silent.Hits())
		created, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}})
		require.NoError(t, err)
		version := created.GetResourceVersion()
		at, err := strconv.Atoi(version)
		require.NoError(t, err)
		sink.history.mu.Lock()
		sink.history.versions[at] = content{types.NamespacedName{Namespace: "ns", Name: "a"}: version}
		sink.history.mu.Unlock()

		reported, stored := after(3*time.Minute - 2*time.Second)
		require.Empty(t, reported)
		require.Zero(t, stored, "the sink cannot have the object while the watch is silent")
		reported, stored = after(2 * time.Second)
		require.Len(t, reported, 1)
		require.ErrorIs(t, reported[0], reflector.ErrIdle)
		require.ErrorContains(t, reported[0], "http://apitest/api/v1/configmaps: the watch fell silent: not even a bookmark came")
		require.Equal(t, 1, stored)
		require.EqualValues(t, 1, r.Status().Lists, "the reflector must not list again")

		reported, _ = after(10 * time.Minute)
		require.Len(t, reported, 1, "bookmarks must end the silence")
		cancel()
		group.Wait()
	})
}
