package cache

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// MutationDetector finds cached objects that a program has modified. It is a test aid that keeps a
// copy of each object.
type MutationDetector interface {
	// AddObject starts to watch an object, for some minutes.
	AddObject(obj interface{})
	// Run compares the objects with their copies every second, until the channel is closed. If an
	// object has changed, Run prints the object and its changes to standard output and panics.
	Run(stopCh <-chan struct{})
}

// mutationDetection is the value of the environment variable at the start of the process.
var mutationDetection, _ = strconv.ParseBool(os.Getenv("KUBE_CACHE_MUTATION_DETECTOR"))

// NewCacheMutationDetector returns the detector of an informer. Its reports include the name.
// Unless the environment variable KUBE_CACHE_MUTATION_DETECTOR is true, the detector does nothing.
func NewCacheMutationDetector(name string) MutationDetector {
	if !mutationDetection {
		return noDetector{}
	}
	klog.Background().Info("Warning: the mutation detector is on, which keeps a copy of each cached object", "cache", name)
	return newMutationDetector(name)
}

type noDetector struct{}

func (noDetector) AddObject(interface{}) {}

// Run returns at once, as in client-go, because a program may call Run in its main goroutine.
func (noDetector) Run(<-chan struct{}) {}

// The detector checks an object for one to two generations.
const (
	detectorPeriod     = time.Second
	detectorGeneration = 2 * time.Minute
)

type mutationDetector struct {
	name string
	fail func(message string) // panics, except in tests

	muCompare       sync.Mutex // held while objects are compared
	mu              sync.Mutex // guards following
	generationStart time.Time  // start of the young generation
	recent          []watchedObject
	old             []watchedObject
}

type watchedObject struct{ cached, copied interface{} }

func newMutationDetector(name string) *mutationDetector {
	return &mutationDetector{name: name, generationStart: time.Now(), fail: func(message string) { panic(message) }}
}

// AddObject ignores values that are not API objects.
func (d *mutationDetector) AddObject(obj interface{}) {
	o, ok := obj.(runtime.Object)
	if !ok {
		return
	}
	w := watchedObject{o, o.DeepCopyObject()}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recent = append(d.recent, w)
}

func (d *mutationDetector) Run(stopCh <-chan struct{}) {
	ticker := time.NewTicker(detectorPeriod)
	defer ticker.Stop()
	for {
		d.compare()
		select {
		case <-stopCh:
			return
		case <-ticker.C:
		}
	}
}

func (d *mutationDetector) compare() {
	d.muCompare.Lock()
	defer d.muCompare.Unlock()
	d.mu.Lock()
	young, old := d.recent, d.old
	if time.Since(d.generationStart) > detectorGeneration {
		d.generationStart, d.old, d.recent = time.Now(), d.recent, nil
	}
	d.mu.Unlock()
	altered := false
	for _, generation := range [][]watchedObject{young, old} {
		for i, w := range generation {
			if !reflect.DeepEqual(w.cached, w.copied) {
				fmt.Printf("CACHE %s[%d] ALTERED!\n%s\n", d.name, i, changedFields(w.copied, w.cached))
				altered = true
			}
		}
	}
	if altered {
		d.fail(fmt.Sprintf("cache %s modified", d.name))
	}
}
