// Command cachekeeper keeps config maps in a shared informer of client-go. TestDropinUnderFaults
// builds it twice: with client-go, and with the replace directive for module clientgo in go.mod.
// For each line of its input it writes the versions by key that its store has, and the versions
// that its handler got, in JSON. It exits at the end of its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cachekeeper:", err)
		os.Exit(1)
	}
}

// snapshot is the output for one line.
type snapshot struct{ Store, Handler map[string]string }

func run() error {
	config := &rest.Config{}
	flag.StringVar(&config.Host, "server", "", "address of the API server")
	flag.StringVar(&config.CAFile, "ca", "", "file of the CA certificate")
	flag.StringVar(&config.BearerTokenFile, "token", "", "file of the token")
	namespace := flag.String("namespace", "", "namespace of the config maps to keep in the cache")
	flag.Parse()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()
	recorder := &versionRecorder{versions: map[string]string{}}
	if _, err := informer.AddEventHandler(recorder); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	output := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		stored := map[string]string{}
		for _, object := range informer.GetStore().List() {
			key, version := identity(object)
			stored[key] = version
		}
		if err := output.Encode(snapshot{Store: stored, Handler: recorder.all()}); err != nil {
			return err
		}
	}
	return nil
}

// versionRecorder is a handler that keeps the versions of the objects it got.
type versionRecorder struct {
	mu       sync.Mutex // guards following
	versions map[string]string
}

// OnAdd implements cache.ResourceEventHandler.
func (t *versionRecorder) OnAdd(object any, _ bool) { t.put(object) }

// OnUpdate implements cache.ResourceEventHandler.
func (t *versionRecorder) OnUpdate(_, object any) { t.put(object) }

// OnDelete implements cache.ResourceEventHandler.
func (t *versionRecorder) OnDelete(object any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.versions, key)
}

func (t *versionRecorder) put(object any) {
	key, version := identity(object)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.versions[key] = version
}

func (t *versionRecorder) all() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.versions)
}

func identity(object any) (key, version string) {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		panic(err)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return key, accessor.GetResourceVersion()
}
