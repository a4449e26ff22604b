package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/controller"
	"github.com/kinform/kinform/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	shop        = types.NamespacedName{Namespace: "web", Name: "shop"}
	deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// fixture is a server with a running controller, and a client of a user. Tests make it inside a
// synctest bubble: HTTP is real, the network is in memory, and time is virtual.
type fixture struct {
	t      *testing.T
	server *apitest.Server
	client *rest.Client             // of the user
	sites  *rest.Resource[*Website] // of the user
	zone   zone
	ready  func() error
	stop   func() error // ends the controller, and returns the error of the function run

	mu       sync.Mutex // guards following
	log      bytes.Buffer
	requests map[string]int // number of requests, by verb and resource
}

// withController runs a test in a bubble.
func withController(t *testing.T, test func(t *testing.T, r *fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &fixture{t: t, zone: zone(t.TempDir()), requests: map[string]int{}}
		r.server = apitest.New(apitest.Options{OnRequest: r.count})
		require.NoError(t, r.server.ListenMemory())
		defer r.server.Close()
		r.define()

		config := rest.Config{Host: r.server.URL(), DialContext: r.server.DialContext}
		client, err := rest.NewClient(config, rest.Options{})
		require.NoError(t, err)
		defer client.Close()
		r.client = client
		own, err := rest.NewClient(config, rest.Options{}) // the client of the controller
		require.NoError(t, err)
		defer own.Close()
		r.sites = rest.Must(rest.NewJSONResource[*Website](client, websites, rest.ResourceOptions{}))

		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		m, err := newManager(own, r.zone, controller.Options{Logger: slog.New(slog.NewTextHandler(r, nil))})
		require.NoError(t, err)
		r.ready = m.Ready
		go func() { ended <- m.Run(ctx) }()
		r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
		defer func() { _ = r.stop() }()
		test(t, r)
		require.NoError(t, r.stop(), "no work may be left")
	})
}

// define creates the CustomResourceDefinition that a user of the example would apply.
func (r *fixture) define() {
	manifest, err := os.ReadFile("website.yaml")
	require.NoError(r.t, err)
	manifest, _, _ = bytes.Cut(manifest, []byte("\n---\n"))
	definition := &unstructured.Unstructured{}
	require.NoError(r.t, yaml.Unmarshal(manifest, &definition.Object))
	_, err = r.server.Create(definition)
	require.NoError(r.t, err)
}

// settle waits until all work is done, including retries.
func (r *fixture) settle() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

func (r *fixture) count(q apitest.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests[strings.TrimSuffix(q.Verb+" "+q.Resource+"/"+q.Subresource, "/")]++
}

// Write collects the log of the controller.
func (r *fixture) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(line)
}

// logged returns the number of log lines that contain the text.
func (r *fixture) logged(text string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (r *fixture) create(key types.NamespacedName, host string) {
	_, err := r.sites.Create(r.t.Context(), &Website{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Website"},
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec:       WebsiteSpec{Host: host, Image: "shop:1", Replicas: 2},
	}, metav1.CreateOptions{})
	require.NoError(r.t, err)
}

func (r *fixture) patch(key types.NamespacedName, patch string) {
	_, err := r.sites.Patch(r.t.Context(), key, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(r.t, err)
}

func (r *fixture) delete(key types.NamespacedName) {
	require.NoError(r.t, r.sites.Delete(r.t.Context(), key, metav1.DeleteOptions{}))
}

func (r *fixture) site(key types.NamespacedName) *Website {
	r.t.Helper()
	site, err := r.sites.Get(r.t.Context(), key, metav1.GetOptions{})
	require.NoError(r.t, err)
	return site
}

// status returns the status of a website in one line, without times.
func status(site *Website) string {
	line := fmt.Sprintf("generation %d, %d ready", site.Status.ObservedGeneration, site.Status.ReadyReplicas)
	for _, c := range site.Status.Conditions {
		line += fmt.Sprintf(", %s=%s %s of %d", c.Type, c.Status, c.Reason, c.ObservedGeneration)
	}
	return line
}

func (r *fixture) deployment(key types.NamespacedName) *appsv1.Deployment {
	r.t.Helper()
	deployment, err := r.server.Get(deployments, key)
	require.NoError(r.t, err)
	return deployment.(*appsv1.Deployment)
}

// events returns the events about a website, as "type reason: note".
func (r *fixture) events(about *Website) (found []string) {
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

func (r *fixture) requireRecord(key types.NamespacedName, host string) {
	r.t.Helper()
	record, err := os.ReadFile(r.zone.file(key))
	require.NoError(r.t, err)
	require.Equal(r.t, host, string(record))
}

func (r *fixture) requireGone(key types.NamespacedName) {
	r.t.Helper()
	_, err := r.sites.Get(r.t.Context(), key, metav1.GetOptions{})
	require.True(r.t, apierrors.IsNotFound(err), "%v", err)
	require.NoFileExists(r.t, r.zone.file(key))
}

func TestLifecycleOfAWebsite(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.create(shop, "shop.example")
		r.settle()
		site, deployment := r.site(shop), r.deployment(shop)
		require.Equal(t, []string{"example.com/dns-record"}, site.Finalizers)
		require.Equal(t, "generation 1, 0 ready, Ready=False Progressing of 1", status(site))
		require.False(t, site.Status.Conditions[0].LastTransitionTime.IsZero())
		require.Equal(t, []metav1.OwnerReference{*metav1.NewControllerRef(site, websiteKind)}, deployment.OwnerReferences)
		require.EqualValues(t, 2, *deployment.Spec.Replicas)
		require.Equal(t, "shop:1", deployment.Spec.Template.Spec.Containers[0].Image)
		require.Equal(t, []string{"Normal Deployed: wrote deployment shop"}, r.events(site))
		r.requireRecord(shop, "shop.example")

		deployment.Status.ReadyReplicas = 2
		_, err := r.server.Update(deployment)
		require.NoError(t, err)
		r.settle()
		require.Equal(t, "generation 1, 2 ready, Ready=True Available of 1", status(r.site(shop)))

		require.NoError(t, r.server.Delete(deployments, shop))
		r.settle()
		again := r.deployment(shop)
		require.NotEqual(t, deployment.UID, again.UID)
		require.True(t, metav1.IsControlledBy(again, site))
		require.Equal(t, "generation 1, 0 ready, Ready=False Progressing of 1", status(r.site(shop)))

		r.patch(shop, `{"spec":{"host":"new.example","image":"shop:2","replicas":0}}`)
		r.settle()
		changed := r.deployment(shop)
		require.Equal(t, again.UID, changed.UID)
		require.Zero(t, *changed.Spec.Replicas)
		require.Equal(t, "shop:2", changed.Spec.Template.Spec.Containers[0].Image)
		require.Equal(t, "generation 2, 0 ready, Ready=True Available of 2", status(r.site(shop)), "a Website without replicas must be Ready")
		r.requireRecord(shop, "new.example")

		r.delete(shop)
		r.settle()
		r.requireGone(shop)
		require.Zero(t, r.logged("level="), &r.log)
	})
}

// A condition that is set in a cached object would change for all readers of the cache.
func TestCachedObjectsAreNotMutated(t *testing.T) {
	t.Parallel()
	cached := &Website{Status: WebsiteStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}}}
	cached.Labels = map[string]string{"a": "b"}
	changed := cached.DeepCopy()
	meta.SetStatusCondition(&changed.Status.Conditions, cached.ready(0, errors.New("wrong")))
	changed.Labels["a"] = "c"
	require.Equal(t, metav1.ConditionTrue, cached.Status.Conditions[0].Status)
	require.Equal(t, "b", cached.Labels["a"])
	require.Equal(t, metav1.ConditionFalse, changed.Status.Conditions[0].Status)
}

// The status is reported in a deep copy that includes the conditions. With shared conditions, the
// status would seem unchanged, and would not be written.
func TestReportDoesNotMutateTheCachedObject(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.create(shop, "shop.example")
		r.settle()
		m, err := controller.New(r.client, controller.Options{})
		require.NoError(t, err)
		c := &reconciler{sites: controller.For[*Website](m, rest.ResourceOptions{Resource: websites})}
		cached := r.site(shop)
		before := cached.DeepCopy()
		require.NotEmpty(t, before.Status.Conditions)
		require.NoError(t, c.report(t.Context(), cached, before.Status.ReadyReplicas, errors.New("a condition that flips, and nothing else")))
		require.Equal(t, before, cached)
		require.Contains(t, status(r.site(shop)), "Ready=False InvalidSpec")
	})
}

// A Website that this program cannot decode is reported, and does not block other Websites.
func TestReadinessNamesUndecodableObjects(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.create(shop, "shop.example")
		r.settle()
		require.NoError(t, r.ready())
		broken, err := r.server.Get(websites, shop)
		require.NoError(t, err)
		site := broken.(*unstructured.Unstructured)
		require.NoError(t, unstructured.SetNestedField(site.Object, "two", "spec", "replicas"))
		_, err = r.server.Update(site)
		require.NoError(t, err)
		r.create(types.NamespacedName{Namespace: "web", Name: "other"}, "other.example")
		r.settle()
		require.ErrorContains(t, r.ready(), "informer websites is not healthy: objects cannot be read: 1 are missing, or older than on the server; object web/shop could not be read: ")
		r.requireRecord(types.NamespacedName{Namespace: "web", Name: "other"}, "other.example")
		require.NotZero(t, r.logged("web/shop could not be read"))

		r.patch(shop, `{"spec": {"replicas": 3}}`)
		r.settle()
		require.NoError(t, r.ready())
		require.EqualValues(t, 3, *r.deployment(shop).Spec.Replicas)
	})
}

func TestALostRecordIsRestoredWithoutAnEvent(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.create(shop, "shop.example")
		r.settle()
		require.NoError(t, r.zone.remove(shop))
		time.Sleep(10 * time.Minute)
		r.settle()
		r.requireRecord(shop, "shop.example")
	})
}

func TestAnInvalidSpecIsReportedOnceAndNotRetried(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.create(shop, "no host!")
		r.settle()
		time.Sleep(time.Hour)
		site := r.site(shop)
		require.Equal(t, "generation 1, 0 ready, Ready=False InvalidSpec of 1", status(site))
		message := site.Status.Conditions[0].Message
		require.Contains(t, message, `spec.host "no host!": `)
		require.Equal(t, []string{"Warning InvalidSpec: " + message}, r.events(site))
		require.NoFileExists(t, r.zone.file(shop))
		require.Equal(t, 1, r.logged("reconcile failed"), &r.log)
		require.Equal(t, 1, r.logged("dropped: spec.host"), &r.log)

		r.patch(shop, `{"spec":{"host":"shop.example"}}`)
		r.settle()
		require.Equal(t, "generation 2, 0 ready, Ready=False Progressing of 2", status(r.site(shop)))
		r.requireRecord(shop, "shop.example")
		require.Equal(t, 1, r.logged("reconcile failed"), &r.log)

		r.patch(shop, `{"spec":{"host":"no host!"}}`)
		r.settle()
		recorded := r.events(site)
		require.Len(t, recorded, 3)
		require.NoError(t, r.server.Delete(deployments, shop))
		r.settle() // allows one more reconcile, without any change
		require.Equal(t, recorded, r.events(site))
		require.Equal(t, 3, r.logged("reconcile failed"), &r.log)
	})
}

func TestADeploymentOfAnotherOwnerIsNotChanged(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		theirs := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}
		theirs.Spec.Template.Spec.Containers = []corev1.Container{{Name: "theirs", Image: "theirs:1"}}
		_, err := r.server.Create(theirs)
		require.NoError(t, err)
		r.create(shop, "shop.example")
		r.settle()
		require.Equal(t, theirs.Spec, r.deployment(shop).Spec)
		require.Zero(t, r.site(shop).Status.ObservedGeneration)

		require.NoError(t, r.server.Delete(deployments, shop))
		r.settle() // No event reports the lost record, so a later reconcile must find it.
		require.True(t, metav1.IsControlledBy(r.deployment(shop), r.site(shop)))
	})
}

// The reconcile for the event of a deployment must see the writes of the previous reconcile.
// Otherwise it would repeat them.
func TestEverythingIsWrittenOnce(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		const n = 50
		synctest.Wait()
		for i := range n {
			r.create(types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}, "x.example")
		}
		r.settle()
		require.Equal(t, map[string]int{
			"list websites": 1, "watch websites": 1, "list deployments": 1, "watch deployments": 1,
			"create websites":    n, // writes of the user
			"patch websites":     n, // for finalizers
			"create deployments": n, "create events": n, "update websites/status": n,
		}, r.requests)
		require.Zero(t, r.logged("level="), &r.log)
	})
}

func TestFaultsDelayButChangeNothing(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		const n = 20
		key := func(i int) types.NamespacedName {
			return types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}
		}
		r.settle()
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "deployments", Times: 5, Action: apitest.Code(500, 0)})
		r.server.Inject(apitest.Fault{Verb: "update", Resource: "websites", Times: 5, Action: apitest.Code(500, 0)})
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "events", Times: 3, Action: apitest.Code(500, 0)})
		watches := r.server.Inject(apitest.Fault{Verb: "watch", Times: 6, Action: apitest.DropAfterEvents(7)})
		require.Positive(t, r.server.DropWatches(""), "faults affect only later requests, so the watches must be dropped")
		for i := range n {
			r.create(key(i), "x.example")
		}
		r.settle()
		require.Positive(t, watches.Hits())
		for i := range n {
			require.EqualValues(t, 1, r.site(key(i)).Status.ObservedGeneration)
			r.patch(key(i), `{"spec":{"image":"shop:2"}}`)
			if i == n/2 { // From here on the watch is cut, and the server drops its history.
				require.Positive(t, r.server.DropWatches(""))
			}
		}
		for i := range n / 4 {
			r.delete(key(i))
		}
		r.server.Compact()
		r.settle()
		for i := range n {
			if i < n/4 {
				r.requireGone(key(i))
				continue
			}
			require.EqualValues(t, 2, r.site(key(i)).Status.ObservedGeneration)
			require.Equal(t, "shop:2", r.deployment(key(i)).Spec.Template.Spec.Containers[0].Image)
		}
	})
}

func TestQueuedKeysAreReconciledBeforeTheEnd(t *testing.T) {
	withController(t, func(t *testing.T, r *fixture) {
		r.settle()
		r.server.Inject(apitest.Fault{Verb: "create", Resource: "deployments", Action: apitest.Delay(2 * time.Second)})
		const n = 12
		for i := range n {
			r.create(types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}, "x.example")
		}
		synctest.Wait() // Now four workers are busy, and the other keys wait.
		begin := time.Now()
		require.NoError(t, r.stop())
		require.Equal(t, 6*time.Second, time.Since(begin))
		for i := range n {
			key := types.NamespacedName{Namespace: "web", Name: fmt.Sprint("site-", i)}
			require.EqualValues(t, 1, r.site(key).Status.ObservedGeneration)
		}
	})
}
