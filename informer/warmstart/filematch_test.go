package warmstart_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/informer/warmstart"
	"github.com/kinform/kinform/informer/warmstart/testdata/own/v1"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/rest"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cluster starts a server at the address that all clusters of these tests share.
func cluster(t *testing.T, opts apitest.Options, names ...string) *apitest.Server {
	server := apitest.New(opts)
	require.NoError(t, server.ListenMemory())
	t.Cleanup(server.Close)
	setUp(t, server)
	for _, name := range names {
		_, err := server.Create(pod(name, "web"))
		require.NoError(t, err)
	}
	return server
}

// started is a program that uses a file, with the state that tests examine.
type started[T any] struct {
	t        *testing.T
	client   *rest.Client
	informer *informer.Informer[T]
	file     *warmstart.File[T]
	ended    chan error
	cancel   context.CancelFunc

	mu         sync.Mutex // guards following
	events     []string
	preloadErr error
	log        bytes.Buffer
}

// Write implements io.Writer, for the log.
func (s *started[T]) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(line)
}

// start runs an informer that is preloaded from the file.
func start[T any](t *testing.T, server *apitest.Server, path string, codec warmstart.Codec[T], opts warmstart.Options, open func(*rest.Client) listwatch.Source[T], tune func(*informer.Options[T])) *started[T] {
	s := &started[T]{t: t, ended: make(chan error, 1)}
	var err error
	s.client, err = rest.NewClient(rest.Config{Host: "http://cluster.local", DialContext: server.DialContext}, rest.Options{})
	require.NoError(t, err)
	opts.OnError = func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.preloadErr = err
	}
	s.file, err = warmstart.New(path, codec, opts)
	require.NoError(t, err)
	options := informer.Options[T]{Preload: s.file.Preload, Logger: slog.New(slog.NewTextHandler(s, nil))}
	options.Reflector.Backoff = reflector.Backoff{Base: 100 * time.Millisecond, Max: time.Second}
	if tune != nil {
		tune(&options)
	}
	s.informer, err = informer.New(open(s.client), options)
	require.NoError(t, err)
	_, err = s.informer.AddHandler(func(e informer.Event[T]) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, fmt.Sprintf("%v %v %v", e.Type, e.Key.Name, e.Cause))
	}, informer.HandlerOptions{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	go func() { s.ended <- s.informer.Run(ctx) }()
	return s
}

// received returns the events of the handler, and the error that prevented the use of the file.
func (s *started[T]) received() ([]string, error) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.events)), s.preloadErr
}

func (s *started[T]) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *started[T]) synced() {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Hour)
	defer cancel()
	require.NoError(s.t, s.informer.WaitForSync(ctx))
}

func (s *started[T]) end() {
	s.cancel()
	require.NoError(s.t, <-s.ended)
	s.client.Close()
}

func podsOf(opts rest.ResourceOptions) func(*rest.Client) listwatch.Source[*corev1.Pod] {
	return func(client *rest.Client) listwatch.Source[*corev1.Pod] {
		return rest.Must(rest.NewResource[*corev1.Pod](client, pods, opts))
	}
}

func startPods(t *testing.T, server *apitest.Server, path string) *started[*corev1.Pod] {
	return start(t, server, path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{}, podsOf(rest.ResourceOptions{}), nil)
}

// savedBy saves all pods of a server, and returns the file's path.
func savedBy(t *testing.T, server *apitest.Server) string {
	path := filepath.Join(t.TempDir(), "pods")
	s := startPods(t, server, path)
	s.synced()
	require.NoError(t, s.file.Save())
	s.end()
	return path
}

// While the server refuses a user, handlers get no object of an earlier process. Once the server
// accepts the user, they get the objects.
func TestHandlersReceiveNothingFromAFileBeforeTheServerAccepts(t *testing.T) {
	for name, fault := range map[string]apitest.Fault{
		"401":                      {Action: apitest.Code(401, 0)},
		"403 on the resource":      {Resource: "pods", Action: apitest.Code(403, 0)},
		"401 on the cluster":       {Resource: "namespaces", Action: apitest.Code(401, 0)},
		"503":                      {Action: apitest.Code(503, 0)},
		"no answer":                {Action: apitest.Drop()},
		"a portal's page":          {Action: apitest.HTML()},
		"a watch that is refused":  {Verb: "watch", Action: apitest.Code(401, 0)},
		"a cluster without answer": {Resource: "namespaces", Action: apitest.Drop()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := cluster(t, apitest.Options{}, "one", "two")
				path := savedBy(t, server)
				refused := server.Inject(fault)
				s := startPods(t, server, path)
				time.Sleep(2 * time.Minute)
				events, preloadErr := s.received()
				require.Empty(t, events)
				require.NoError(t, preloadErr)
				require.Zero(t, s.informer.Store().Len())
				require.NoError(t, s.file.Save(), "Save does nothing while the store is empty")

				refused.Remove()
				s.synced()
				events, preloadErr = s.received()
				require.NoError(t, preloadErr)
				require.Equal(t, []string{"Added one initial", "Added two initial"}, events)
				s.end()
			})
		})
	}
}

// Two clusters have one address, and the same versions.
func TestFileOfAnotherClusterIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := savedBy(t, cluster(t, apitest.Options{Seed: 1}, "one", "two"))
		otherCluster := cluster(t, apitest.Options{Seed: 2}, "three", "two")
		s := startPods(t, otherCluster, path)
		s.synced()
		events, preloadErr := s.received()
		require.ErrorIs(t, preloadErr, warmstart.ErrMismatch)
		require.ErrorContains(t, preloadErr, "the source's cluster is")
		require.Contains(t, s.logged(), "the source's cluster is")
		require.Equal(t, []string{"Added three initial", "Added two initial"}, events)

		require.NoError(t, s.file.Save())
		s.end()
		s = startPods(t, otherCluster, path)
		s.synced()
		_, preloadErr = s.received()
		require.NoError(t, preloadErr, "the file now belongs to the new cluster")
		s.end()
	})
}

// A cluster that was restored under its own name has another history, and has since passed the
// version of the file.
func TestFileOfAnotherHistoryIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		backup := server.Backup()
		_, err := server.Create(pod("lost", "web"))
		require.NoError(t, err)
		path := savedBy(t, server)
		server.Restore(backup)
		for _, name := range []string{"two", "three", "four"} {
			_, err := server.Create(pod(name, "web"))
			require.NoError(t, err)
		}
		s := startPods(t, server, path)
		s.synced()
		events, _ := s.received()
		require.Equal(t, []string{"Added four initial", "Added one initial", "Added three initial", "Added two initial"}, events)
		require.Contains(t, s.logged(), "another history")
		s.end()
	})
}

func TestFileOfAnotherUserIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		as := func(name string) *apitest.InjectedFault {
			return server.Inject(apitest.Fault{
				Match:  func(r apitest.Request) bool { return strings.HasSuffix(r.HTTP.URL.Path, "/selfsubjectreviews") },
				Action: apitest.Body(http.StatusCreated, "application/json", `{"kind":"SelfSubjectReview","status":{"userInfo":{"username":"`+name+`"}}}`),
			})
		}
		first := as("anna")
		path := savedBy(t, server)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(data), "anna", "the name is hashed")
		s := startPods(t, server, path)
		s.synced()
		_, cold := s.received()
		require.NoError(t, cold)
		s.end()

		first.Remove()
		as("boris")
		s = startPods(t, server, path)
		s.synced()
		_, cold = s.received()
		require.ErrorContains(t, cold, "the source's user is")
		s.end()
	})
}

// The selectors and the projection of the source are part of the origin of its objects.
func TestFileOfAnotherSelectionIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		for want, opts := range map[string]rest.ResourceOptions{
			"namespace": {Namespace: "shop"}, "labelSelector": {LabelSelector: "app=web"},
			"fieldSelector": {FieldSelector: "metadata.name=one"}, "projection": {Project: rest.Omit{ManagedFields: true}},
		} {
			s := start(t, server, savedBy(t, server), warmstart.Protobuf[corev1.Pod](), warmstart.Options{}, podsOf(opts), nil)
			s.synced()
			events, preloadErr := s.received()
			require.ErrorContains(t, preloadErr, "the source's "+want+" is")
			require.Equal(t, []string{"Added one initial"}, events)
			s.end()
		}
	})
}

// The type has the same name as another type, in a package with the same name.
func TestFileOfAnotherTypeOfTheSameNameIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		decoded := 0
		codec := warmstart.Codec[*v1.Pod]{
			Name:   "protobuf",
			Encode: func(*v1.Pod) ([]byte, error) { return nil, nil },
			Decode: func([]byte) (*v1.Pod, error) { decoded++; return &v1.Pod{}, nil },
		}
		slim := func(client *rest.Client) listwatch.Source[*v1.Pod] {
			return sources.Transform(podsOf(rest.ResourceOptions{})(client), func(pod *corev1.Pod) (*v1.Pod, error) { return &v1.Pod{Name: pod.Name}, nil })
		}
		s := start(t, server, savedBy(t, server), codec, warmstart.Options{}, slim, nil)
		s.synced()
		events, preloadErr := s.received()
		require.ErrorIs(t, preloadErr, warmstart.ErrMismatch)
		require.ErrorContains(t, preloadErr, `Go type is "*k8s.io/api/core/v1.Pod" instead of "*github.com/kinform/kinform/informer/warmstart/testdata/own/v1.Pod"`)
		require.Equal(t, []string{"Added one initial"}, events)
		require.Zero(t, decoded)
		s.end()
	})
}

// If nothing distinguishes the cluster from others, there is no warm start unless Options.Source is
// set.
func TestUnidentifiedClusterNeedsOptionsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{}, "one")
		server.Inject(apitest.Fault{Resource: "namespaces", Action: apitest.Code(403, 0)})
		path := filepath.Join(t.TempDir(), "pods")
		s := startPods(t, server, path)
		s.synced()
		_, cold := s.received()
		require.ErrorIs(t, cold, warmstart.ErrUnknownSource)
		require.ErrorIs(t, s.file.Save(), warmstart.ErrUnknownSource)
		require.NoFileExists(t, path)
		s.end()
		for _, fresh := range []bool{true, false} {
			s = start(t, server, path, warmstart.Protobuf[corev1.Pod](), warmstart.Options{Source: "test"}, podsOf(rest.ResourceOptions{}), nil)
			s.synced()
			_, cold = s.received()
			require.Equal(t, fresh, cold != nil, cold)
			require.NoError(t, s.file.Save())
			s.end()
		}
	})
}

// Secrets are written to the disk only on request, whatever they are decoded into.
func TestSecretsAreSavedOnlyIfPermitted(t *testing.T) {
	secrets := corev1.SchemeGroupVersion.WithResource("secrets")
	synctest.Test(t, func(t *testing.T) {
		server := cluster(t, apitest.Options{})
		_, err := server.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "key"}, Data: map[string][]byte{"key": []byte("hunter2")}})
		require.NoError(t, err)
		dir := t.TempDir()
		_, err = warmstart.New(filepath.Join(dir, "x"), warmstart.Protobuf[corev1.Secret](), warmstart.Options{})
		require.ErrorIs(t, err, warmstart.ErrSecrets)

		var open func(*rest.Client) listwatch.Source[string]
		whole := func(client *rest.Client, opts rest.ResourceOptions) listwatch.Source[string] {
			return sources.Transform(rest.Must(rest.NewResource[*corev1.Secret](client, secrets, opts)), func(s *corev1.Secret) (string, error) { return string(s.Data["key"]), nil })
		}
		for name, source := range map[string]func(*rest.Client) listwatch.Source[string]{
			"whole": func(client *rest.Client) listwatch.Source[string] { return whole(client, rest.ResourceOptions{}) },
			"merged": func(client *rest.Client) listwatch.Source[string] {
				return sources.Merge(whole(client, rest.ResourceOptions{Namespace: "blog"}), whole(client, rest.ResourceOptions{Namespace: "shop"}))
			},
		} {
			open = source
			path := filepath.Join(dir, name)
			s := start(t, server, path, warmstart.JSON[string](), warmstart.Options{}, open, nil)
			s.synced()
			_, cold := s.received()
			require.ErrorIs(t, cold, warmstart.ErrSecrets)
			require.ErrorIs(t, s.file.Save(), warmstart.ErrSecrets)
			require.NoFileExists(t, path)
			s.end()

			permitted := warmstart.Options{Secrets: true}
			s = start(t, server, path, warmstart.JSON[string](), permitted, open, nil)
			s.synced()
			require.NoError(t, s.file.Save())
			s.end()
			s = start(t, server, path, warmstart.JSON[string](), permitted, open, nil)
			s.synced()
			_, cold = s.received()
			require.NoError(t, cold)
			s.end()
			s = start(t, server, path, warmstart.JSON[string](), warmstart.Options{}, open, nil)
			s.synced()
			_, cold = s.received()
			require.ErrorIs(t, cold, warmstart.ErrSecrets, "an existing file with Secrets is not read")
			s.end()
		}
	})
}
