package contracts

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	client "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// policies are values of the field Sharing of client.Config. client-go does not have this field.
var policies = []string{"", "nothing", "constants", "immutable", "everything"}

const pods = 20

// podServer returns a server with the pods of a few workloads. The pods of a workload are largely
// equal.
func podServer(t *testing.T) *apitest.Server {
	srv := apitest.Start(t, apitest.Options{})
	require.NoError(t, apitest.Populate(srv, apitest.Pods(pods, apitest.PodOptions{Namespaces: 1})))
	return srv
}

func configOf(host, encoding, sharing string) *client.Config {
	config := &client.Config{Host: host, QPS: -1, ContentConfig: client.ContentConfig{ContentType: encoding}}
	if field := reflect.ValueOf(config).Elem().FieldByName("Sharing"); field.IsValid() {
		field.SetString(sharing)
	}
	return config
}

// ownedSource has a function for each way in which a program gets objects that it owns.
type ownedSource struct {
	list   func(ctx context.Context) ([]any, error)
	get    func(t *testing.T, name string) any
	watch  func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
	shared func() cache.SharedIndexInformer
}

var podsGVR = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func ownedSources(t *testing.T, config *client.Config) map[string]ownedSource {
	typed, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	untyped, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	partial, err := metadata.NewForConfig(config)
	require.NoError(t, err)
	return map[string]ownedSource{
		"typed": {
			list: func(ctx context.Context) ([]any, error) {
				list, err := typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
				if err != nil {
					return nil, err
				}
				return pointersTo(list.Items), nil
			},
			get: func(t *testing.T, name string) any {
				got, err := typed.CoreV1().Pods("ns-0").Get(t.Context(), name, metav1.GetOptions{})
				require.NoError(t, err)
				return got
			},
			watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return typed.CoreV1().Pods("").Watch(ctx, opts)
			},
			shared: func() cache.SharedIndexInformer {
				return informers.NewSharedInformerFactory(typed, 0).Core().V1().Pods().Informer()
			},
		},
		"dynamic": {
			list: func(ctx context.Context) ([]any, error) {
				list, err := untyped.Resource(podsGVR).List(ctx, metav1.ListOptions{})
				if err != nil {
					return nil, err
				}
				return pointersTo(list.Items), nil
			},
			get: func(t *testing.T, name string) any {
				got, err := untyped.Resource(podsGVR).Namespace("ns-0").Get(t.Context(), name, metav1.GetOptions{})
				require.NoError(t, err)
				return got
			},
			watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return untyped.Resource(podsGVR).Watch(ctx, opts)
			},
			shared: func() cache.SharedIndexInformer {
				return dynamicinformer.NewDynamicSharedInformerFactory(untyped, 0).ForResource(podsGVR).Informer()
			},
		},
		"metadata": {
			list: func(ctx context.Context) ([]any, error) {
				list, err := partial.Resource(podsGVR).List(ctx, metav1.ListOptions{})
				if err != nil {
					return nil, err
				}
				return pointersTo(list.Items), nil
			},
			get: func(t *testing.T, name string) any {
				got, err := partial.Resource(podsGVR).Namespace("ns-0").Get(t.Context(), name, metav1.GetOptions{})
				require.NoError(t, err)
				return got
			},
			watch: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
				return partial.Resource(podsGVR).Watch(ctx, opts)
			},
			shared: func() cache.SharedIndexInformer {
				return metadatainformer.NewSharedInformerFactory(partial, 0).ForResource(podsGVR).Informer()
			},
		},
	}
}

func pointersTo[T any](items []T) (all []any) {
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}

// forEachSource runs a test for each client, encoding and policy.
func forEachSource(t *testing.T, test func(t *testing.T, srv *apitest.Server, source ownedSource, config *client.Config)) {
	srv := podServer(t)
	for _, policy := range policies {
		for _, encoding := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
			config := configOf(srv.URL(), encoding, policy)
			if policy != "" && !reflect.ValueOf(config).Elem().FieldByName("Sharing").IsValid() {
				continue // client-go has no policies
			}
			for name, of := range ownedSources(t, config) {
				if name == "dynamic" && encoding != runtime.ContentTypeJSON {
					continue // the client requests JSON whatever the config says
				}
				t.Run(fmt.Sprintf("%s, %s, %q", name, encoding, policy), func(t *testing.T) { test(t, srv, of, config) })
			}
		}
	}
}

// A program owns the objects that it lists, gets, or receives from a watch. A change of one of
// these objects affects no other object.
func TestOwnedObjectsShareNothing(t *testing.T) {
	forEachSource(t, func(t *testing.T, _ *apitest.Server, of ownedSource, _ *client.Config) {
		first, err := of.list(t.Context())
		require.NoError(t, err)
		second, err := of.list(t.Context())
		require.NoError(t, err)
		own := slices.Concat(first, second)
		require.Len(t, own, 2*pods)
		for _, object := range own[:10] {
			own = append(own, of.get(t, object.(metav1.Object).GetName()))
		}
		w, err := of.watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		require.NoError(t, err)
		defer w.Stop()
		for range pods {
			event := <-w.ResultChan()
			require.Equal(t, watch.Added, event.Type)
			own = append(own, event.Object)
		}
		require.NoError(t, mutation.CheckUnshared(own...))
	})
}

// recordingStore is a program's own store. It records all objects that it receives.
type recordingStore struct {
	cache.Store
	mu  sync.Mutex // guards following
	all []any
	got chan struct{} // gets a signal when an object was received; room for one
}

func newRecordingStore() *recordingStore {
	return &recordingStore{Store: cache.NewStore(cache.MetaNamespaceKeyFunc), got: make(chan struct{}, 1)}
}

func (k *recordingStore) record(objects ...any) {
	k.mu.Lock()
	k.all = append(k.all, objects...)
	k.mu.Unlock()
	select {
	case k.got <- struct{}{}:
	default:
	}
}

func (k *recordingStore) Add(object any) error    { k.record(object); return k.Store.Add(object) }
func (k *recordingStore) Update(object any) error { k.record(object); return k.Store.Update(object) }
func (k *recordingStore) Replace(objects []any, version string) error {
	k.record(objects...)
	return k.Store.Replace(objects, version)
}

// wait waits until there are n objects, and returns all objects.
func (k *recordingStore) wait(n int) []any {
	for {
		k.mu.Lock()
		all := slices.Clone(k.all)
		k.mu.Unlock()
		if len(all) >= n {
			return all
		}
		<-k.got
	}
}

var changes atomic.Int64 // makes each change different

func change(t *testing.T, srv *apitest.Server, objects []any) {
	typed, err := kubernetes.NewForConfig(&client.Config{Host: srv.URL(), QPS: -1})
	require.NoError(t, err)
	for _, object := range objects {
		o := object.(metav1.Object)
		patch := []byte(fmt.Sprintf(`{"metadata":{"annotations":{"changed":"%d"}}}`, changes.Add(1)))
		_, err = typed.CoreV1().Pods(o.GetNamespace()).Patch(t.Context(), o.GetName(), "application/merge-patch+json", patch, metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// A program owns the objects in a store that it has implemented.
func TestObjectsInAProgramsStoreShareNothing(t *testing.T) {
	forEachSource(t, func(t *testing.T, srv *apitest.Server, of ownedSource, config *client.Config) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var own []any
		functions := &cache.ListWatch{
			ListFunc: func(metav1.ListOptions) (runtime.Object, error) {
				objects, err := of.list(ctx)
				return listOf(srv.ResourceVersion(), objects), err
			},
			WatchFunc: func(opts metav1.ListOptions) (watch.Interface, error) { return of.watch(ctx, opts) },
		}
		listers := []cache.ListerWatcher{functions, noStreamingLists{functions}}
		if strings.HasPrefix(t.Name(), "TestObjectsInAProgramsStoreShareNothing/typed") {
			typed, err := kubernetes.NewForConfig(config)
			require.NoError(t, err)
			listers = append(listers, cache.NewListWatchFromClient(typed.CoreV1().RESTClient(), "pods", "", fields.Everything()))
		}
		for _, lw := range listers {
			store := newRecordingStore()
			reflector := cache.NewReflector(lw, nil, store, 0)
			running.Go(func() { reflector.RunWithContext(ctx) })
			first := store.wait(pods)
			change(t, srv, first[:5])
			own = append(own, store.wait(pods+5)...)
		}
		require.NoError(t, mutation.CheckUnshared(own...))
	})
}

// noStreamingLists is a ListerWatcher that does not support streaming lists.
type noStreamingLists struct{ *cache.ListWatch }

func (noStreamingLists) IsWatchListSemanticsUnSupported() bool { return true }

func listOf(version string, objects []any) runtime.Object {
	list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: version}}
	for _, object := range objects {
		list.Items = append(list.Items, runtime.RawExtension{Object: object.(runtime.Object)})
	}
	return list
}

// Until it returns, a transform owns the object that it has received.
func TestATransformOwnsItsObject(t *testing.T) {
	forEachSource(t, func(t *testing.T, srv *apitest.Server, of ownedSource, _ *client.Config) {
		for _, returned := range []string{"as it came", "a copy"} {
			informer := of.shared()
			given := newRecordingStore()
			require.NoError(t, informer.SetTransform(func(object any) (any, error) {
				result := object
				if returned == "a copy" {
					result = object.(runtime.Object).DeepCopyObject()
				}
				// This object shares no part with an object that was received before, or with a
				// stored object.
				given.mu.Lock()
				before := slices.Clone(given.all)
				given.mu.Unlock()
				if slices.Contains(before, object) {
					// client-go transforms each object of a streaming list twice (D23)
					return object, nil
				}
				if len(before)%7 == 0 || len(before) >= pods {
					if err := mutation.CheckUnshared(append(before, informer.GetStore().List()), object); err != nil {
						t.Error(err)
					}
				}
				given.record(object)
				return result, nil
			}))
			stop := make(chan struct{})
			var running sync.WaitGroup
			running.Go(func() { informer.Run(stop) })
			require.True(t, cache.WaitForCacheSync(stop, informer.HasSynced))
			change(t, srv, given.wait(pods)[:5])
			all := given.wait(pods + 5)
			close(stop)
			running.Wait()
			if returned == "a copy" {
				require.NoError(t, mutation.CheckUnshared(append(all, informer.GetStore().List())...))
			}
		}
	})
}

// A custom resource may have fields of any name. So it may have fields with the names of managed
// fields in other places.
func TestOwnedObjectsWithFieldsNamedManagedFieldsShareNothing(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var items []string
		for i := range 50 {
			items = append(items, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w-%d","uid":"%d","resourceVersion":"7",`+
				`"managedFields":[{"manager":"m","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:ready":{}}}}]},"spec":{"fieldsV1":{"approved":false,"by":{}}}}`, i, i))
		}
		_, _ = w.Write([]byte(`{"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"resourceVersion":"9"},"items":[` + strings.Join(items, ",") + `]}`))
	}))
	defer srv.Close()
	for _, policy := range policies {
		untyped, err := dynamic.NewForConfig(configOf(srv.URL, "", policy))
		require.NoError(t, err)
		var own []any
		for range 3 {
			list, err := untyped.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, list.Items, 50)
			for i := range list.Items {
				own = append(own, list.Items[i].Object)
			}
		}
		require.NoError(t, mutation.CheckUnshared(own...), policy)
	}
}
