package reflector_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
)

// rejecting is a source that cannot decode anything in the events about one object, not even the
// name.
type rejecting struct {
	listwatch.Source[*corev1.ConfigMap]
	name string
}

type rejectingWatch struct {
	listwatch.WatchStream[*corev1.ConfigMap]
	name string
}

func (s rejecting) Watch(ctx context.Context, opts listwatch.WatchOptions) (listwatch.WatchStream[*corev1.ConfigMap], error) {
	stream, err := s.Source.Watch(ctx, opts)
	return rejectingWatch{stream, s.name}, err
}

func (w rejectingWatch) Next() (listwatch.Event[*corev1.ConfigMap], error) {
	event, err := w.WatchStream.Next()
	if err == nil && event.Key.Name == w.name {
		err = &listwatch.ObjectError{Type: event.Type, Err: errors.New("rejected")}
	}
	return event, err
}

// G2, KEP-2523: if a list has a limit, the server returns exactly the requested version, unless the
// request allows a newer version. A relist must not return the known state again, because then the
// same failure would follow.
func TestG2_APagedRelistGetsTheNewestState(t *testing.T) {
	for name, opts := range map[string]struct {
		server    apitest.Options
		reflector reflector.Options
	}{
		"pages are requested":        {apitest.Options{}, reflector.Options{PageSize: 2}},
		"the server pages its cache": {apitest.Options{PagedCacheLists: true}, reflector.Options{}},
		"there is no streaming list": {apitest.Options{NoWatchList: true}, reflector.Options{PageSize: 2, ListMode: reflector.WatchList}},
		"two parts are merged":       {apitest.Options{}, reflector.Options{PageSize: 2}},
		"no matches are known":       {apitest.Options{}, reflector.Options{PageSize: 2}},
	} {
		for why, fault := range map[string]apitest.Fault{
			// A restarted server has no older events in its watch cache.
			"its watches begin later": {Verb: "watch", Action: apitest.Expired(), Match: func(req apitest.Request) bool {
				from, err := strconv.Atoi(req.HTTP.URL.Query().Get("resourceVersion"))
				return err == nil && from < 700
			}},
			"a deletion is undecodable": {Verb: "none", Action: apitest.Drop()},
			"nothing can be watched": {Verb: "watch", Action: apitest.Fail(
				apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", errors.New("no watch")))},
		} {
			t.Run(name+"/"+why, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := apitest.New(opts.server)
					defer server.Close()
					require.NoError(t, server.ListenMemory())
					client, err := rest.NewClient(rest.Config{Host: server.URL(), DialContext: server.DialContext}, rest.Options{})
					require.NoError(t, err)
					defer client.Close()
					current := content{}
					create := func(n int) {
						name := types.NamespacedName{Namespace: "ns", Name: fmt.Sprint("cm-", n)}
						made, err := server.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}})
						require.NoError(t, err)
						current[name] = made.GetResourceVersion()
					}
					for n := range 600 {
						create(n)
					}
					if name == "no matches are known" {
						server.Inject(apitest.Fault{
							Verb:   "list",
							Action: apitest.Fail(apierrors.NewInvalid(schema.GroupKind{}, "", nil)),
							Match:  func(req apitest.Request) bool { return req.HTTP.URL.Query().Has("resourceVersionMatch") },
						})
					}
					sink := &plainSink{content: content{}}
					source := rejecting{rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{})), "cm-0"}
					if name == "two parts are merged" {
						part := func(namespace string) listwatch.Source[*corev1.ConfigMap] {
							return rest.Must(rest.NewResource[*corev1.ConfigMap](client, configMaps, rest.ResourceOptions{Namespace: namespace}))
						}
						source.Source = sources.Merge(part("ns"), part("other"))
					}
					r, err := reflector.New(source, sink, opts.reflector)
					require.NoError(t, err)
					ctx, cancel := context.WithCancel(t.Context())
					var running sync.WaitGroup
					running.Go(func() { require.NoError(t, r.Run(ctx)) })
					time.Sleep(time.Millisecond)
					server.Inject(fault)
					if fault.Verb == "watch" {
						server.DropWatches("")
					}
					for n := 600; version(t, server) < 700; n++ {
						create(n)
					}
					gone := types.NamespacedName{Namespace: "ns", Name: "cm-0"}
					require.NoError(t, server.Delete(configMaps, gone))
					delete(current, gone)

					time.Sleep(2 * time.Minute)
					synctest.Wait()
					require.Equal(t, current, sink.content)
					require.Less(t, r.Stats().Relists, uint64(6))
					cancel()
					running.Wait()
				})
			})
		}
	}
}

// plainSink is a sink that keeps the versions of the objects it gets.
type plainSink struct {
	mu      sync.Mutex // guards following
	content content
}

func (s *plainSink) HasVersion(key types.NamespacedName, version string, _ uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content[key] == version
}

func (*plainSink) HeldObject(types.NamespacedName) any { return nil }

func (s *plainSink) Replace(snapshot listwatch.Snapshot[*corev1.ConfigMap]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content = content{}
	for _, it := range snapshot.Items {
		s.content[it.Key] = it.ResourceVersion
	}
	return nil
}

func (s *plainSink) Apply(ev listwatch.Event[*corev1.ConfigMap]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch ev.Type {
	case listwatch.Added, listwatch.Modified:
		s.content[ev.Key] = ev.ResourceVersion
	case listwatch.Deleted:
		delete(s.content, ev.Key)
	}
	return nil
}
