package cache

// MutationDetector finds cached objects that were changed.
type MutationDetector interface {
	AddObject(obj interface{})
	Run(stopCh <-chan struct{})
}

// noDetector finds nothing.
//
// PLACEHOLDER for the detector that KUBE_CACHE_MUTATION_DETECTOR switches on, whose owner is `store`: delete this file
// with it.
type noDetector struct{}

func (noDetector) AddObject(interface{})      {}
func (noDetector) Run(stopCh <-chan struct{}) { <-stopCh }

// NewCacheMutationDetector returns one that does nothing yet.
func NewCacheMutationDetector(name string) MutationDetector { return noDetector{} }
