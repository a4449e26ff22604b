package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/await"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	shop        = types.NamespacedName{Namespace: "web", Name: "shop"}
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// rig is a server, a controller that works on it, and a user who changes and watches
// things there.
type rig struct {
	t           *testing.T
	server      *apitest.Server
	zone        zone
	sites       *rest.Resource[*Website]
	siteCache   *informer.Informer[*Website] // not the controller's: what anybody can see
	deployCache *informer.Informer[*appsv1.Deployment]
	ctx         context.Context // ends when the test has taken too long
	stop        func() error    // stops the controller

	mu       sync.Mutex // guards following
	log      bytes.Buffer
	requests map[string]int // by verb and resource
}

func start(t *testing.T) *rig {
	r := &rig{t: t, zone: zone(t.TempDir()), requests: map[string]int{}}
	r.server = apitest.Start(t, apitest.Options{OnRequest: r.count})
	definition, err := os.ReadFile("website.yaml")
	require.NoError(t, err)
	crd := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(bytes.Split(definition, []byte("\n---\n"))[0], &crd.Object))
	_, err = r.server.Create(crd)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	r.ctx = ctx
	config := rest.Config{Host: r.server.URL()}
	client, err := rest.NewClient(config, rest.Options{})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	r.sites = rest.NewJSONResource[*Website](client, websites, rest.ResourceOptions{})
	r.siteCache = watch(r, r.sites)
	r.deployCache = watch(r, rest.For[*appsv1.Deployment](client, rest.ResourceOptions{}))
	r.stop = r.background(func(ctx context.Context) error {
		return run(ctx, config, r.zone, slog.New(slog.NewTextHandler(r, nil)))
	})
	return r
}

// watch runs an informer for the user.
func watch[T any](r *rig, resource *rest.Resource[T]) *informer.Informer[T] {
	inf, err := informer.New(resource, informer.Options[T]{})
	require.NoError(r.t, err)
	r.background(inf.Run)
	return inf
}

// background runs a function, and ends it with the test or by the returned one.
func (r *rig) background(work func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(r.ctx)
	ended := make(chan error, 1)
	go func() { ended <- work(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	r.t.Cleanup(func() { _ = stop() })
	return stop
}

func (r *rig) count(q apitest.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[strings.TrimSuffix(q.Verb+" "+q.Resource+"/"+q.Subresource, "/")]++
}

func (r *rig) counted(verb string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[verb]
}

// Write takes the controller's log.
func (r *rig) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

// logged returns how many lines of the log have this in them.
func (r *rig) logged(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func website(key types.NamespacedName, host string) *Website {
	return &Website{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Website"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       WebsiteSpec{Host: host, Image: "shop:1", Replicas: 2},
	}
}

func (r *rig) create(site *Website) *Website {
	made, err := r.sites.Create(r.ctx, site, metav1.CreateOptions{})
	require.NoError(r.t, err)
	return made
}

func (r *rig) patch(key types.NamespacedName, patch string) {
	_, err := r.sites.Patch(r.ctx, key, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(r.t, err)
}

// site waits until a website is as wanted.
func (r *rig) site(key types.NamespacedName, text string, wanted func(*Website) bool) *Website {
	r.t.Helper()
	return until(r, r.siteCache, key, text, wanted)
}

// deployment waits until a deployment is as wanted.
func (r *rig) deployment(key types.NamespacedName, text string, wanted func(*appsv1.Deployment) bool) *appsv1.Deployment {
	r.t.Helper()
	return until(r, r.deployCache, key, text, wanted)
}

func until[T any](r *rig, inf *informer.Informer[T], key types.NamespacedName, text string, wanted func(T) bool) T {
	r.t.Helper()
	object, err := await.Until(r.ctx, inf.Store(), key, await.New(text, func(s await.State[T]) bool { return s.Exists && wanted(s.Object) }))
	require.NoError(r.t, err, "the controller says: %s", r)
	return object
}

func (r *rig) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// observed waits until the controller has reported on this generation.
func (r *rig) observed(key types.NamespacedName, generation int64) *Website {
	r.t.Helper()
	return r.site(key, fmt.Sprint("generation observed: ", generation), func(w *Website) bool { return w.Status.ObservedGeneration == generation })
}

// events returns the events about a website, as "type reason: note".
func (r *rig) events(about *Website) (found []string) {
	objects, _, err := r.server.List(eventsv1.SchemeGroupVersion.WithResource("events"), about.Namespace)
	require.NoError(r.t, err)
	for _, object := range objects {
		if event := object.(*eventsv1.Event); event.Regarding.UID == about.UID {
			require.Equal(r.t, "Website", event.Regarding.Kind)
			require.Equal(r.t, "example.com/v1", event.Regarding.APIVersion)
			found = append(found, event.Type+" "+event.Reason+": "+event.Note)
		}
	}
	return found
}

func (r *rig) requireRecord(key types.NamespacedName, host string) {
	r.t.Helper()
	record, err := os.ReadFile(r.zone.file(key))
	require.NoError(r.t, err)
	require.Equal(r.t, host, string(record))
}

// requireCleanEnd stops the controller, which would fail if the drain took too long.
func (r *rig) requireCleanEnd() {
	r.t.Helper()
	require.NoError(r.t, r.stop(), r)
}

func TestWebsiteFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	r := start(t)
	made := r.create(website(shop, "shop.example"))
	site := r.observed(shop, 1)
	require.Equal(t, []string{"example.com/dns-record"}, site.Finalizers)
	require.Equal(t, WebsiteStatus{ObservedGeneration: 1}, site.Status)
	r.requireRecord(shop, "shop.example")
	deployment := r.deployment(shop, "it exists", func(*appsv1.Deployment) bool { return true })
	require.EqualValues(t, 2, *deployment.Spec.Replicas)
	require.Equal(t, "shop:1", deployment.Spec.Template.Spec.Containers[0].Image)
	require.True(t, metav1.IsControlledBy(deployment, made))
	require.Equal(t, *metav1.NewControllerRef(made, websiteKind), deployment.OwnerReferences[0])
	require.Equal(t, []string{"Normal Deployed: wrote deployment shop"}, r.events(made))

	ready := deployment.DeepCopy()
	ready.Status.ReadyReplicas = 2
	_, err := r.server.Update(ready)
	require.NoError(t, err)
	r.site(shop, "its status follows the deployment's", func(w *Website) bool { return w.Status.ReadyReplicas == 2 })

	require.NoError(t, r.server.Delete(deployments, shop))
	again := r.deployment(shop, "what was deleted by hand is back", func(d *appsv1.Deployment) bool { return d.UID != deployment.UID })
	require.True(t, metav1.IsControlledBy(again, made))
	r.site(shop, "its status follows again", func(w *Website) bool { return w.Status.ReadyReplicas == 0 })

	r.patch(shop, `{"spec":{"host":"new.example","image":"shop:2","replicas":0}}`)
	r.observed(shop, 2)
	r.requireRecord(shop, "new.example")
	r.deployment(shop, "it follows the spec", func(d *appsv1.Deployment) bool {
		return d.UID == again.UID && *d.Spec.Replicas == 0 && d.Spec.Template.Spec.Containers[0].Image == "shop:2"
	})

	require.NoError(t, r.sites.Delete(r.ctx, shop, metav1.DeleteOptions{}))
	_, err = await.Until(r.ctx, r.siteCache.Store(), shop, await.Deleted[*Website](made.UID))
	require.NoError(t, err)
	require.NoFileExists(t, r.zone.file(shop))
	r.requireCleanEnd()
	require.Zero(t, r.logged("level=ERROR"), r)
}

func TestInvalidSpecIsToldOnceAndNotRetried(t *testing.T) {
	t.Parallel()
	r := start(t)
	made := r.create(website(shop, "no host!"))
	bad := r.observed(shop, 1)
	require.Contains(t, bad.Status.Message, `spec.host "no host!": `)
	require.Equal(t, []string{"Warning InvalidSpec: " + bad.Status.Message}, r.events(made))
	require.NoFileExists(t, r.zone.file(shop))

	r.patch(shop, `{"spec":{"host":"shop.example"}}`)
	good := r.observed(shop, 2)
	require.Empty(t, good.Status.Message)
	r.requireRecord(shop, "shop.example")
	require.Equal(t, 1, r.logged("level=ERROR"), r)
	require.Equal(t, 1, r.logged("dropped: spec.host"), r)
	r.requireCleanEnd()
}

// The turn that a deployment of one's own brings about must see what was written
// before, or it writes again.
func TestEverythingIsWrittenOnce(t *testing.T) {
	t.Parallel()
	const n = 20
	r := start(t)
	key := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}
	}
	for i := range n {
		r.create(website(key(i), "x.example"))
	}
	for i := range n {
		r.observed(key(i), 1)
		r.patch(key(i), `{"spec":{"image":"shop:2"}}`)
	}
	for i := range n {
		r.observed(key(i), 2) // All turns before this one's are over.
	}
	require.Equal(t, n+n, r.counted("patch websites"), "finalizers, and the patches above")
	require.Equal(t, n+n, r.counted("update websites/status"))
	require.Equal(t, n, r.counted("create deployments"))
	require.Equal(t, n, r.counted("update deployments"))
	require.Equal(t, n+n, r.counted("create events"))
	require.Zero(t, r.logged("level=ERROR"), r)
	r.requireCleanEnd()
}

func TestFaultsDelayButChangeNothing(t *testing.T) {
	t.Parallel()
	const n = 10
	r := start(t)
	r.server.Inject(apitest.Fault{Verb: "create", Resource: "deployments", Times: 5, Action: apitest.Code(500, 0)})
	r.server.Inject(apitest.Fault{Verb: "update", Resource: "websites", Times: 5, Action: apitest.Code(500, 0)})
	r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Times: 3, Action: apitest.Code(500, 0)})
	key := func(i int) types.NamespacedName {
		return types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}
	}
	for i := range n {
		r.create(website(key(i), "x.example"))
	}
	for i := range n {
		r.observed(key(i), 1)
		r.patch(key(i), `{"spec":{"image":"shop:2"}}`)
		if i == n/2 { // The others are changed, and all is worked on, while nobody watches.
			require.Positive(t, r.server.DropWatches(""))
			r.server.Compact()
		}
	}
	r.server.Compact() // And what happened meanwhile is forgotten.
	for i := range n {
		r.observed(key(i), 2)
		r.deployment(key(i), "it follows the spec", func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.Containers[0].Image == "shop:2" })
		require.NoError(t, r.sites.Delete(r.ctx, key(i), metav1.DeleteOptions{}))
	}
	for i := range n {
		_, err := await.Until(r.ctx, r.siteCache.Store(), key(i), await.Deleted[*Website](""))
		require.NoError(t, err)
		require.NoFileExists(t, r.zone.file(key(i)))
	}
	require.Zero(t, r.siteCache.Store().Len())
	r.requireCleanEnd()
}
